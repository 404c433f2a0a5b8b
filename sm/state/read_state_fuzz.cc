// Any content of the whole database: records that are read can be written and read again unchanged.
#include "sm/state/names.h"
#include "sm/state/read_state.h"
#include "sm/state/stored.h"
#include "tests/support/fake_store.h"
#include "tests/support/fuzz.h"

namespace ibpod::sm::state {
namespace {

Policy every_partition() {
  Policy policy;
  policy.pkeys = pool::PKeyPool::make({{.first = 1, .last = 0x7ffe}}).value();
  return policy;
}

using Objects = std::map<RecordKind, std::map<std::string, std::string>>;

Objects written(const Records& records) {
  Objects objects;
  for (const auto& [name, record] : records.partitions)
    objects[RecordKind::partition][name] = to_bytes(record);
  for (const auto& [attachment, entry] : records.bindings)
    objects[RecordKind::binding][key_of(attachment)] = to_bytes(entry);
  for (const auto& [name, node] : records.nodes) objects[RecordKind::node][name] = to_bytes(node);
  for (const auto& [guid, place] : records.guids.assigned)
    objects[RecordKind::guid][guid.text()] = to_bytes(place);
  return objects;
}

// The records one after the other: a byte for the kind, one for the key's length, the key, two for
// the value's length, the value.
void fill(FakeStore& store, std::string_view bytes) {
  const auto take = [&bytes](size_t count) {
    const std::string_view taken = bytes.substr(0, count);
    bytes.remove_prefix(taken.size());
    return taken;
  };
  const auto number = [&take](size_t count) {
    size_t number = 0;
    for (const char byte : take(count)) number = number << 8 | static_cast<uint8_t>(byte);
    return number;
  };
  while (!bytes.empty()) {
    const auto kind = static_cast<RecordKind>(number(1) % 5 + 1);
    const std::string key(take(number(1)));
    store.objects[kind][key] = take(number(2));
  }
}

void check_store(std::string_view bytes) {
  FakeStore store, again;
  fill(store, bytes);
  const auto state = read_state(store, every_partition());
  if (!state) return fuzz::check_refusal(state.error(), bytes.size());
  again.objects = written((*state)->records());
  const auto copy = read_state(again, every_partition());
  fuzz::require(copy.ok() && written((*copy)->records()) == written((*state)->records()));
}

}  // namespace
}  // namespace ibpod::sm::state

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibpod::sm::state::check_store(ibpod::fuzz::text_of(data, size));
  return 0;
}
