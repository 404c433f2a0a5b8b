#include "sm/state/stored.h"

#include "lib/fabricapi/fields.h"
#include "lib/fabricapi/messages.h"
#include "sm/state/stored.pb.h"

#include <set>
#include <string_view>

namespace ibpod::sm::state {
namespace {

using fabric::BindingState;

template <typename Message>
Result<Message> parse(const std::string& bytes) {
  Message message;
  if (message.ParseFromString(bytes)) return message;
  return Error(Code::invalid, "cannot parse " + std::string(message.GetTypeName()));
}

Status check_once(const Memberships& memberships) {
  std::set<std::string_view> seen;
  for (const fabric::PartitionMembership& membership : memberships)
    if (!seen.insert(membership.partition).second)
      return Error(Code::invalid, "partition " + membership.partition + " is listed twice");
  return ok();
}

Result<Memberships> read_memberships(const fabricapi::MembershipMessages& messages,
                                     const char* field) {
  Memberships memberships = TRY(fabricapi::parse_memberships(messages, field));
  TRY(check_once(memberships));
  return memberships;
}

Result<BindingState> stored_state(const std::string& text) {
  const std::optional<BindingState> state = fabric::parse_state(text);
  if (state == BindingState::requested || state == BindingState::releasing) return *state;
  return fabricapi::wrong("state", text, "requested or releasing");
}

template <typename Numbers>
Result<std::set<ib::Guid>> guids(const Numbers& numbers) {
  std::set<ib::Guid> guids;
  for (const uint64_t number : numbers) {
    TRY(ib::check_port_guid(ib::Guid(number)));
    guids.emplace(number);
  }
  return guids;
}

}  // namespace

std::string to_bytes(const BindingRecord& entry) {
  const fabric::Binding& binding = entry.binding;
  v1::StoredBinding stored;
  fabricapi::write_spec(binding, *stored.mutable_binding());
  fabricapi::write_memberships(entry.pending_removal, *stored.mutable_former());
  const bool releasing = binding.state == BindingState::releasing;
  stored.mutable_binding()->set_state(
      std::string(name(releasing ? BindingState::releasing : BindingState::requested)));
  return stored.SerializeAsString();
}

Result<StoredBinding> binding_from(const std::string& bytes) {
  const v1::StoredBinding stored = TRY(parse<v1::StoredBinding>(bytes));
  StoredBinding found;
  found.binding = TRY(fabricapi::parse_spec(stored.binding()));
  TRY(ib::check_port_guid(found.binding.guid).during("guid"));
  TRY(check_once(found.binding.desired));
  TRY(check_once(found.binding.applied));
  found.pending_removal = TRY(read_memberships(stored.former(), "former"));
  found.binding.state = TRY(stored_state(stored.binding().state()));
  found.binding.condition = {fabric::Reason::waiting, ""};
  return found;
}

std::string to_bytes(const PartitionRecord& record) {
  v1::StoredPartition stored;
  ibpod::v1::Partition& message = *stored.mutable_partition();
  fabricapi::write_spec(record.partition, message);
  message.set_declared(record.declared);
  if (record.deleting()) message.set_state(std::string(name(record.state)));
  for (const ib::Guid guid : record.former_members) stored.add_leaving(guid.value());
  return stored.SerializeAsString();
}

Result<StoredPartition> partition_from(const std::string& bytes) {
  const v1::StoredPartition stored = TRY(parse<v1::StoredPartition>(bytes));
  const ibpod::v1::Partition& message = stored.partition();
  StoredPartition found;
  found.partition = TRY(fabricapi::parse_spec(message));
  if (!found.partition.pkey) return fabricapi::wrong_number("pkey", 0, "1 to 32766");
  // A request may omit them, a record must not.
  if (message.membership().empty() || message.proof().empty())
    return Error(Code::invalid, "membership or proof is missing");
  TRY(fabric::check(found.partition));
  found.declared = message.declared();
  found.deleting = message.state() == name(fabric::PartitionState::deleting);
  if (!found.deleting && !message.state().empty())
    return fabricapi::wrong("state", message.state(), "deleting or none");
  found.former_members = TRY(guids(stored.leaving()));
  return found;
}

std::string to_bytes(const NodeRecord& node) {
  v1::StoredNode stored;
  stored.set_forgetting(node.forgetting);
  for (const ib::Guid guid : node.pfs) stored.add_pfs(guid.value());
  stored.set_boot(node.boot_ids.boot());
  return stored.SerializeAsString();
}

Result<StoredNode> node_from(const std::string& bytes) {
  const v1::StoredNode stored = TRY(parse<v1::StoredNode>(bytes));
  const std::set<ib::Guid> pfs = TRY(guids(stored.pfs()));
  return StoredNode{stored.forgetting(), pfs, stored.boot()};
}

std::string to_bytes(const VfSlot& place) {
  v1::StoredVf stored;
  stored.set_node(place.node);
  stored.set_pf(place.pf);
  stored.set_vf(place.vf);
  return stored.SerializeAsString();
}

Result<VfSlot> vf_slot_from(const std::string& bytes) {
  const v1::StoredVf stored = TRY(parse<v1::StoredVf>(bytes));
  if (!stored.node().empty()) return VfSlot{stored.node(), stored.pf(), stored.vf()};
  return Error(Code::invalid, "node is missing");
}

std::string last_to_bytes(uint64_t last) {
  v1::StoredLast stored;
  stored.set_value(last);
  return stored.SerializeAsString();
}

Result<uint64_t> last_from(const std::string& bytes) {
  const v1::StoredLast stored = TRY(parse<v1::StoredLast>(bytes));
  return stored.value();
}

}  // namespace ibpod::sm::state
