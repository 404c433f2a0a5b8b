#include "sm/registry/stored.h"

#include "sm/registry/stored.pb.h"

namespace ibpod::sm::registry {
namespace {

using fabric::BindingState;
using ShareMessages = google::protobuf::RepeatedPtrField<ibpod::v1::Share>;

template <typename Message>
Result<Message> parse(const std::string& bytes) {
  Message message;
  if (message.ParseFromString(bytes)) return message;
  return Error(Code::invalid, "cannot parse " + std::string(message.GetTypeName()));
}

template <typename Enum>
Result<Enum> word(std::optional<Enum> found, const char* field, const std::string& text) {
  if (found) return *found;
  return Error(Code::invalid, "invalid " + std::string(field) + " \"" + text.substr(0, 32) + "\"");
}

Result<fabric::Membership> membership(const std::string& text) {
  return word(fabric::parse_membership(text), "membership", text);
}

fabric::WallTime time(int64_t milliseconds) {
  return fabric::WallTime(std::chrono::milliseconds(milliseconds));
}

void put(const Memberships& memberships, ShareMessages& messages) {
  for (const fabric::PartitionMembership& membership : memberships) {
    ibpod::v1::Share& message = *messages.Add();
    message.set_partition(membership.partition);
    message.set_membership(std::string(name(membership.membership)));
  }
}

Result<Memberships> read_memberships(const ShareMessages& messages) {
  Memberships memberships;
  for (const ibpod::v1::Share& message : messages) {
    const fabric::Membership membership = TRY(sm::registry::membership(message.membership()));
    if (membership_in(memberships, message.partition()))
      return Error(Code::invalid, "partition " + message.partition() + " is listed twice");
    memberships.push_back({message.partition(), membership});
  }
  return memberships;
}

void put_device(const fabric::Binding& binding, ibpod::v1::Binding& message) {
  message.mutable_attachment()->set_node(binding.attachment.node);
  message.mutable_attachment()->set_container(binding.attachment.container);
  message.mutable_attachment()->set_interface(binding.attachment.interface);
  message.set_guid(binding.guid.value());
  message.set_chosen(binding.guid_requested);
  message.set_kind(std::string(name(binding.kind)));
  message.set_pf(binding.pf);
  message.set_pf_guid(binding.pf_guid.value());
  message.set_device(binding.device);
  message.mutable_pod()->set_namespace_(binding.pod.name_space);
  message.mutable_pod()->set_name(binding.pod.name);
  message.mutable_pod()->set_uid(binding.pod.uid);
}

Result<BindingState> stored_state(const std::string& text) {
  const BindingState state = TRY(word(fabric::parse_state(text), "state", text));
  if (state == BindingState::requested || state == BindingState::releasing) return state;
  return Error(Code::invalid, "invalid state \"" + text + "\" (requested or releasing)");
}

void put_partition(const PartitionRecord& record, ibpod::v1::Partition& message) {
  const fabric::Partition& partition = record.partition;
  message.set_name(partition.name);
  message.set_pkey(partition.pkey->value());
  message.set_membership(std::string(name(partition.membership)));
  message.set_index0(partition.index0);
  if (partition.ipoib) message.set_ipoib(*partition.ipoib);
  if (partition.mtu) message.set_mtu(static_cast<uint32_t>(*partition.mtu));
  if (partition.rate) message.set_rate(static_cast<uint32_t>(*partition.rate));
  if (partition.sl) message.set_sl(*partition.sl);
  for (const std::string& name_space : partition.allowed) message.add_allowed(name_space);
  for (const std::string& pattern : partition.nodes) message.add_nodes(pattern);
  message.set_proof(std::string(name(partition.proof)));
  for (const fabric::StaticMember& member : partition.members) {
    ibpod::v1::StaticMember& added = *message.add_members();
    added.set_guid(member.guid.value());
    added.set_membership(std::string(name(member.membership)));
    added.set_comment(member.comment);
  }
  message.set_declared(record.declared);
  if (record.deleting()) message.set_state(std::string(name(record.state)));
}

Status read_numbers(const ibpod::v1::Partition& message, fabric::Partition& partition) {
  if (message.pkey() == 0 || message.pkey() > 0x7ffe)
    return Error(Code::invalid, "invalid pkey " + std::to_string(message.pkey()) + " (1 to 32766)");
  partition.pkey = ib::PKey(static_cast<uint16_t>(message.pkey()));
  const auto number = [](const auto found, const char* field, uint32_t value) {
    return word(found, field, std::to_string(value));
  };
  if (message.has_mtu())
    partition.mtu = TRY(number(fabric::mtu_of(message.mtu()), "mtu", message.mtu()));
  if (message.has_rate())
    partition.rate = TRY(number(fabric::rate_of(message.rate()), "rate", message.rate()));
  if (!message.has_sl()) return ok();
  if (message.sl() > fabric::kMostSl)
    return Error(Code::invalid, "invalid sl " + std::to_string(message.sl()) + " (0 to 15)");
  partition.sl = static_cast<uint8_t>(message.sl());
  return ok();
}

Result<fabric::Partition> read_partition(const ibpod::v1::Partition& message) {
  fabric::Partition partition;
  partition.name = message.name();
  TRY(read_numbers(message, partition));
  partition.membership = TRY(membership(message.membership()));
  partition.index0 = message.index0();
  if (message.has_ipoib()) partition.ipoib = message.ipoib();
  partition.allowed.assign(message.allowed().begin(), message.allowed().end());
  partition.nodes.assign(message.nodes().begin(), message.nodes().end());
  partition.proof = TRY(word(fabric::parse_proof(message.proof()), "proof", message.proof()));
  for (const ibpod::v1::StaticMember& member : message.members()) {
    const fabric::Membership as = TRY(membership(member.membership()));
    partition.members.push_back({ib::Guid(member.guid()), as, member.comment()});
  }
  TRY(fabric::check(partition));
  return partition;
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
  ibpod::v1::Binding& message = *stored.mutable_binding();
  put_device(binding, message);
  put(binding.desired, *message.mutable_shares());
  put(binding.applied, *message.mutable_held());
  put(entry.pending_removal, *stored.mutable_former());
  message.set_generation(binding.generation);
  const bool releasing = binding.state == BindingState::releasing;
  message.set_state(
      std::string(name(releasing ? BindingState::releasing : BindingState::requested)));
  message.set_asked(binding.asked.time_since_epoch().count());
  message.set_changed(binding.changed.time_since_epoch().count());
  return stored.SerializeAsString();
}

Result<StoredBinding> binding_from(const std::string& bytes) {
  const v1::StoredBinding stored = TRY(parse<v1::StoredBinding>(bytes));
  const ibpod::v1::Binding& message = stored.binding();
  StoredBinding found;
  fabric::Binding& binding = found.binding;
  binding.attachment = {message.attachment().node(), message.attachment().container(),
                        message.attachment().interface()};
  binding.guid = ib::Guid(message.guid());
  TRY(ib::check_port_guid(binding.guid).during("guid"));
  binding.guid_requested = message.chosen();
  binding.kind = TRY(word(fabric::parse_kind(message.kind()), "kind", message.kind()));
  binding.pf = message.pf();
  binding.pf_guid = ib::Guid(message.pf_guid());
  binding.device = message.device();
  binding.pod = {message.pod().namespace_(), message.pod().name(), message.pod().uid()};
  binding.desired = TRY(read_memberships(message.shares()));
  binding.applied = TRY(read_memberships(message.held()));
  found.pending_removal = TRY(read_memberships(stored.former()));
  binding.generation = message.generation();
  binding.state = TRY(stored_state(message.state()));
  binding.condition = {fabric::Reason::waiting, ""};
  binding.asked = time(message.asked());
  binding.changed = time(message.changed());
  return found;
}

std::string to_bytes(const PartitionRecord& record) {
  v1::StoredPartition stored;
  put_partition(record, *stored.mutable_partition());
  for (const ib::Guid guid : record.former_members) stored.add_leaving(guid.value());
  return stored.SerializeAsString();
}

Result<StoredPartition> partition_from(const std::string& bytes) {
  const v1::StoredPartition stored = TRY(parse<v1::StoredPartition>(bytes));
  StoredPartition found;
  found.partition = TRY(read_partition(stored.partition()));
  found.declared = stored.partition().declared();
  const std::string& state = stored.partition().state();
  found.deleting = state == name(fabric::PartitionState::deleting);
  if (!found.deleting && !state.empty())
    return Error(Code::invalid, "invalid state \"" + state.substr(0, 32) + "\" (deleting or none)");
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

}  // namespace ibpod::sm::registry
