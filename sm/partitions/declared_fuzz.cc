// Each entry of any file of declared partitions is either a partition with a unique name, or left
// out with a reason; `complete` is false if the name of a left-out entry is not known.
#include "sm/partitions/declared_partitions.h"
#include "tests/support/fuzz.h"

#include <set>

namespace ibpod::sm::partitions {
namespace {

using fuzz::require;

void check_declared(const DeclaredPartitions& declared, size_t size) {
  std::set<std::string> names;
  for (const fabric::Partition& partition : declared.partitions) {
    require(fabric::check(partition).ok());
    require(names.insert(partition.name).second);
  }
  for (const std::string& error : declared.errors)
    fuzz::check_refusal(Error(Code::invalid, error), size);
  for (const std::string& name : declared.unread) {
    fabric::Partition partition;
    partition.name = name;
    require(fabric::check(partition).ok());
  }
  require(declared.errors.size() >= declared.unread.size());
  require(declared.complete == (declared.errors.size() == declared.unread.size()));
}

}  // namespace
}  // namespace ibpod::sm::partitions

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  const auto declared = sm::partitions::read_declared(fuzz::text_of(data, size));
  if (!declared) fuzz::check_refusal(declared.error(), size);
  if (declared) sm::partitions::check_declared(*declared, size);
  return 0;
}
