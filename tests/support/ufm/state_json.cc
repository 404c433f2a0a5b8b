#include "tests/support/ufm/state_json.h"

#include "lib/json/read.h"
#include "tests/support/ufm/rest_text.h"
#include "tests/support/ufm/settings_json.h"

namespace ibpod::fake_ufm {
namespace {

using json::Fields;
using json::Value;

Result<ib::Guid> to_guid(const Value& value) {
  const std::string text = TRY(value.string());
  return read_guid(text);
}

Result<ib::PKey> to_pkey(const Value& value) {
  const std::string text = TRY(value.string());
  return read_pkey(text);
}

template <typename Item>
auto list_of(Result<Item> (*read)(const Value&)) {
  return [read](const Value& list) { return json::read_list(list, read); };
}

Result<std::optional<bool>> to_flag(const Value& value) {
  const bool flag = TRY(value.boolean());
  return std::optional(flag);
}

Result<std::optional<ib::Membership>> to_membership(const Value& value) {
  const ib::Membership membership = TRY(read_membership(value));
  return std::optional(membership);
}

Result<std::set<Operation>> to_operations(const Value& list) {
  const auto operations = TRY(json::read_list(list, json::read<Operation>));
  return std::set<Operation>(operations.begin(), operations.end());
}

Status take_number(Fields& fields, const char* key, int& target, int most) {
  const auto number = TRY(fields.integer(key, 0, most));
  if (number) target = static_cast<int>(*number);
  return ok();
}

}  // namespace

Result<Call> read_call(const Value& object) {
  Fields fields = TRY(Fields::of(object));
  Call call{.caller = "administrator"};
  TRY(json::take(fields, "caller", call.caller));
  TRY(json::take(fields, "operation", call.operation));
  TRY(json::take(fields, "pkey", call.pkey, to_pkey));
  TRY(json::take(fields, "guids", call.guids, list_of(to_guid)));
  TRY(json::take(fields, "membership", call.membership, to_membership));
  TRY(json::take(fields, "memberships", call.memberships, list_of(read_membership)));
  TRY(json::take(fields, "index0", call.index0, to_flag));
  TRY(json::take(fields, "ip_over_ib", call.ip_over_ib, to_flag));
  TRY(json::take(fields, "partition_name", call.partition_name));
  TRY(json::take(fields, "physical", call.group.physical, list_of(to_guid)));
  TRY(json::take(fields, "virtual", call.group.virtual_guids, list_of(to_guid)));
  TRY(take_number(fields, "group", call.group_id, 1'000'000));
  TRY(json::refuse_unknown(object, fields));
  return call;
}

Result<Fault> read_fault(const Value& object) {
  constexpr int kMost = 1'000'000;
  Fields fields = TRY(Fields::of(object));
  Fault fault;
  TRY(json::take(fields, "kind", fault.kind));
  TRY(take_number(fields, "status", fault.status, 599));
  TRY(json::take(fields, "text", fault.text));
  int delay = 0;
  TRY(take_number(fields, "delay_ms", delay, kMost));
  fault.delay = std::chrono::milliseconds(delay);
  TRY(json::take(fields, "caller", fault.caller));
  TRY(json::take(fields, "operations", fault.operations, to_operations));
  ib::PKey pkey;
  TRY(json::take(fields, "pkey", pkey, to_pkey));
  if (pkey != ib::PKey()) fault.pkey = pkey;
  TRY(take_number(fields, "skip", fault.skip, kMost));
  TRY(take_number(fields, "times", fault.times, kMost));
  TRY(json::refuse_unknown(object, fields));
  return fault;
}

Result<Port> read_port(const Value& object) {
  Fields fields = TRY(Fields::of(object));
  Port port;
  TRY(json::take(fields, "guid", port.guid, to_guid));
  TRY(json::take(fields, "system", port.system));
  TRY(json::take(fields, "system_guid", port.system_guid, to_guid));
  TRY(take_number(fields, "lid", port.lid, 0xffff));
  TRY(json::take(fields, "system_type", port.system_type));
  TRY(json::take(fields, "logical_state", port.logical_state));
  TRY(json::refuse_unknown(object, fields));
  return port;
}

Result<Vport> read_vport(const Value& object) {
  Fields fields = TRY(Fields::of(object));
  Vport vport;
  TRY(json::take(fields, "guid", vport.guid, to_guid));
  TRY(json::take(fields, "port", vport.port, to_guid));
  TRY(take_number(fields, "lid", vport.lid, 0xffff));
  TRY(json::take(fields, "state", vport.state));
  TRY(json::refuse_unknown(object, fields));
  return vport;
}

Value to_json(const LogEntry& entry) {
  const Call& call = entry.call;
  const RestSettings forms;
  Value guids = Value::array();
  for (const ib::Guid guid : call.guids) guids.push(show(guid, forms));
  Value shown = Value::object();
  shown.set("caller", call.caller).set("operation", name(call.operation));
  shown.set("pkey", show(call.pkey, forms)).set("guids", guids);
  if (call.membership) shown.set("membership", ib::name(*call.membership));
  if (call.index0) shown.set("index0", *call.index0);
  if (call.group_id != 0) shown.set("group", call.group_id);
  shown.set("path", call.path).set("status", entry.status);
  shown.set("delivery", word_of(words_of(entry.delivery), entry.delivery));
  const auto since_boot =
      std::chrono::duration_cast<std::chrono::microseconds>(entry.monotonic.time_since_epoch());
  shown.set("monotonic_us", static_cast<int64_t>(since_boot.count()));
  return shown.set("changed", entry.changed);
}

Value to_json(const Partitions& partitions) {
  const RestSettings forms;
  Value all = Value::object();
  for (const auto& [pkey, partition] : partitions) {
    Value members = Value::object();
    for (const auto& [guid, member] : partition.members)
      members.set(show(guid, forms), Value::object()
                                         .set("membership", ib::name(member.membership))
                                         .set("index0", member.index0));
    all.set(show(pkey, forms), Value::object()
                                   .set("name", partition.name)
                                   .set("ip_over_ib", partition.ip_over_ib)
                                   .set("members", members));
  }
  return all;
}

}  // namespace ibpod::fake_ufm
