#include "lib/ib/partition_name.h"

#include <algorithm>

namespace ibpod::ib {
namespace {

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

}  // namespace

bool is_partition_name(std::string_view name) {
  return !name.empty() && name.size() <= kMostPartitionName &&
         std::all_of(name.begin(), name.end(), plain);
}

}  // namespace ibpod::ib
