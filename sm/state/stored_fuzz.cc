// Any value of the database: a value that is parsed can be written and parsed again unchanged. The
// first byte selects the kind.
#include "sm/state/stored.h"
#include "tests/support/fuzz.h"

#include <array>

namespace ibpod::sm::state {
namespace {

using fuzz::require;

template <typename T>
bool is_read(const Result<T>& value, const std::string& bytes) {
  if (!value) fuzz::check_refusal(value.error(), bytes.size());
  return value.ok();
}

void check_binding(const std::string& bytes) {
  const auto stored = binding_from(bytes);
  if (!is_read(stored, bytes)) return;
  BindingRecord entry;
  entry.binding = stored->binding;
  entry.pending_removal = stored->pending_removal;
  const auto again = binding_from(to_bytes(entry)).value();
  require(again.binding == stored->binding && again.pending_removal == stored->pending_removal);
}

PartitionRecord record_of(const StoredPartition& stored) {
  PartitionRecord record;
  record.partition = stored.partition;
  record.declared = stored.declared;
  if (stored.deleting) record.state = fabric::PartitionState::deleting;
  record.former_members = stored.former_members;
  return record;
}

void check_partition(const std::string& bytes) {
  const auto stored = partition_from(bytes);
  if (!is_read(stored, bytes)) return;
  const auto again = partition_from(to_bytes(record_of(*stored))).value();
  require(again.partition == stored->partition && again.declared == stored->declared);
  require(again.deleting == stored->deleting && again.former_members == stored->former_members);
}

void check_node(const std::string& bytes) {
  const auto stored = node_from(bytes);
  if (!is_read(stored, bytes)) return;
  NodeRecord node;
  node.forgetting = stored->forgetting;
  node.pfs = stored->pfs;
  node.boot_ids = BootIdTracker(stored->boot, {});
  const auto again = node_from(to_bytes(node)).value();
  require(again.forgetting == stored->forgetting && again.pfs == stored->pfs &&
          again.boot == stored->boot);
}

void check_place(const std::string& bytes) {
  const auto place = vf_slot_from(bytes);
  if (is_read(place, bytes)) require(vf_slot_from(to_bytes(*place)).value() == *place);
}

void check_last(const std::string& bytes) {
  const auto last = last_from(bytes);
  if (is_read(last, bytes)) require(last_from(last_to_bytes(*last)).value() == *last);
}

// The corpus depends on the order: add new checks at the end.
using Check = void (*)(const std::string&);
constexpr std::array<Check, 5> kChecks{check_binding, check_partition, check_node, check_place,
                                       check_last};

}  // namespace
}  // namespace ibpod::sm::state

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  if (size == 0) return 0;
  const std::string bytes(fuzz::text_of(data + 1, size - 1));
  sm::state::kChecks[data[0] % sm::state::kChecks.size()](bytes);
  return 0;
}
