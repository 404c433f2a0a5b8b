#include "lib/fabricapi/partition_messages.h"

#include "lib/base/utf8.h"
#include "lib/fabricapi/fields.h"

namespace ibpod::fabricapi {
namespace {

Result<std::optional<ib::PKey>> parse_pkey(uint32_t number) {
  constexpr uint32_t kMost = 0x7ffe;
  if (number == 0) return std::optional<ib::PKey>();
  if (number > kMost) return wrong_number("pkey", number, "0 for none, or 1 to 32766 (0x7ffe)");
  return std::optional(ib::PKey(static_cast<uint16_t>(number)));
}

Status parse_group(const v1::Partition& message, fabric::Partition& partition) {
  if (message.has_ipoib()) partition.ipoib = message.ipoib();
  if (message.has_mtu()) {
    partition.mtu = fabric::mtu_of(message.mtu());
    if (!partition.mtu) return wrong_number("mtu", message.mtu(), "1 (256 bytes) to 5 (4096)");
  }
  if (message.has_rate()) {
    partition.rate = fabric::rate_of(message.rate());
    if (!partition.rate)
      return wrong_number("rate", message.rate(), "2 (2.5 Gb/s) to 22 (600), as in MCMemberRecord");
  }
  if (message.has_sl()) {
    if (message.sl() > fabric::kMostSl) return wrong_number("sl", message.sl(), "0 to 15");
    partition.sl = static_cast<uint8_t>(message.sl());
  }
  return ok();
}

Status parse_members(const v1::Partition& message, fabric::Partition& partition) {
  for (const v1::StaticMember& one : message.members()) {
    const fabric::Membership membership =
        TRY(read_membership("members.membership", one.membership()));
    partition.members.push_back({ib::Guid(one.guid()), membership, one.comment()});
  }
  return ok();
}

Status check_counts(const v1::Partition& message) {
  TRY(check_count("allowed", message.allowed().size(), kMostNamespaces));
  TRY(check_count("nodes", message.nodes().size(), kMostNodePatterns));
  return check_count("members", message.members().size(), kMostMembers);
}

// Its errors name the message's fields, which fabric::check() does not know.
Status check_lists(const fabric::Partition& partition) {
  for (const std::string& one : partition.allowed)
    if (!fabric::check(fabric::Namespaces{one}))
      return wrong(
          "allowed", one,
          one.find('/') == std::string::npos
              ? "a namespace (at most 63 lowercase letters, digits and -), or *; of another "
                "cluster with CLUSTER/ in front"
              : "CLUSTER/NAMESPACE, each of which may be *");
  for (const std::string& one : partition.nodes)
    if (!fabric::check_node_patterns({one}))
      return wrong("nodes", one,
                   "a node name, which may contain one *, and may have CLUSTER/ or */ in front");
  for (const fabric::StaticMember& member : partition.members) {
    TRY(read_guid("members.guid", member.guid.value()));
    if (!is_utf8(member.comment)) return wrong("members.comment", member.comment, "UTF-8");
  }
  return ok();
}

void write_group(const fabric::Partition& partition, v1::Partition& message) {
  if (partition.ipoib) message.set_ipoib(*partition.ipoib);
  if (partition.mtu) message.set_mtu(static_cast<uint32_t>(*partition.mtu));
  if (partition.rate) message.set_rate(static_cast<uint32_t>(*partition.rate));
  if (partition.sl) message.set_sl(*partition.sl);
}

}  // namespace

void write_spec(const fabric::Partition& partition, v1::Partition& message) {
  message.set_name(partition.name);
  if (partition.pkey) message.set_pkey(partition.pkey->value());
  message.set_membership(std::string(name(partition.membership)));
  message.set_index0(partition.index0);
  write_group(partition, message);
  for (const std::string& name_space : partition.allowed) message.add_allowed(name_space);
  for (const std::string& pattern : partition.nodes) message.add_nodes(pattern);
  message.set_proof(std::string(name(partition.proof)));
  for (const fabric::StaticMember& member : partition.members) {
    v1::StaticMember& one = *message.add_members();
    one.set_guid(member.guid.value());
    one.set_membership(std::string(name(member.membership)));
    one.set_comment(member.comment);
  }
}

Result<fabric::Partition> parse_spec(const v1::Partition& message) {
  fabric::Partition partition;
  partition.name = message.name();
  partition.pkey = TRY(parse_pkey(message.pkey()));
  if (!message.membership().empty())
    partition.membership = TRY(read_membership("membership", message.membership()));
  partition.index0 = message.index0();
  TRY(parse_group(message, partition));
  partition.allowed.assign(message.allowed().begin(), message.allowed().end());
  partition.nodes.assign(message.nodes().begin(), message.nodes().end());
  if (!message.proof().empty())
    partition.proof =
        TRY(read_enum("proof", message.proof(), fabric::parse_proof, "port, node or none"));
  TRY(parse_members(message, partition));
  return partition;
}

v1::Partition to_message(const fabric::Partition& partition) {
  v1::Partition message;
  write_spec(partition, message);
  for (v1::StaticMember& member : *message.mutable_members())
    member.set_comment(cleaned(member.comment()));
  return message;
}

Result<fabric::Partition> read_partition(const v1::Partition& message) {
  TRY(read_partition_name("name", message.name()));
  TRY(check_counts(message));
  fabric::Partition partition = TRY(parse_spec(message));
  TRY(check_lists(partition));
  TRY(check(partition));
  return partition;
}

v1::Partition to_message(const fabric::PartitionStatus& status) {
  v1::Partition message = to_message(status.spec);
  message.set_declared(status.declared);
  message.set_state(std::string(name(status.state)));
  message.set_reason(std::string(name(status.condition.reason)));
  message.set_text(cleaned(status.condition.text));
  message.set_bindings(status.bindings);
  return message;
}

Result<fabric::PartitionStatus> from_message(const v1::Partition& message) {
  fabric::PartitionStatus status;
  status.spec = TRY(read_partition(message));
  status.declared = message.declared();
  status.state = TRY(read_enum("state", message.state(), fabric::parse_partition_state,
                               "provisioning, ready, deleting or error"));
  status.condition.reason =
      TRY(read_enum("reason", message.reason(), fabric::parse_reason, "a reason"));
  status.condition.text = message.text();
  status.bindings = message.bindings();
  return status;
}

v1::ListPartitionsResponse to_message(const ListPage<fabric::PartitionStatus>& listed) {
  v1::ListPartitionsResponse message;
  for (const fabric::PartitionStatus& one : listed.items)
    *message.add_partitions() = to_message(one);
  message.set_next_page_token(listed.next);
  return message;
}

Result<ListPage<fabric::PartitionStatus>> from_message(const v1::ListPartitionsResponse& message) {
  ListPage<fabric::PartitionStatus> listed;
  for (const v1::Partition& one : message.partitions()) {
    fabric::PartitionStatus status = TRY(from_message(one).during("partitions"));
    listed.items.push_back(std::move(status));
  }
  listed.next = message.next_page_token();
  return listed;
}

}  // namespace ibpod::fabricapi
