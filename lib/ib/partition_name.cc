#include "lib/ib/partition_name.h"

#include <algorithm>
#include <string>

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

Status check_partition_name(std::string_view name) {
  if (is_partition_name(name)) return ok();
  const std::string shown = name.size() > 2 * kMostPartitionName
                                ? "a name of " + std::to_string(name.size()) + " bytes"
                                : "\"" + std::string(name) + "\"";
  return Error(Code::invalid, shown + " is not a partition name: expected 1 to " +
                                  std::to_string(kMostPartitionName) +
                                  " letters, digits and \"._-\"");
}

}  // namespace ibpod::ib
