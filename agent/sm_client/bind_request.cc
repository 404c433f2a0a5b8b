#include "agent/sm_client/bind_request.h"

#include <algorithm>

namespace ibpod::agent::sm_client {
namespace {

Result<fabricapi::BindRequest::PartitionRequest> to_partition_request(
    const node::PartitionRequest& wish) {
  if (wish.membership.empty())
    return fabricapi::BindRequest::PartitionRequest{wish.name, std::nullopt, wish.pkey};
  const auto membership = TRY(parse_word(fabric::words_of(fabric::Membership()), wish.membership)
                                  .during("partition " + wish.label() + ": membership"));
  return fabricapi::BindRequest::PartitionRequest{wish.name, membership, wish.pkey};
}

// The key of the partition that was requested.
std::optional<ib::PKey> key_of(const node::PartitionRequest& wish, const fabric::Binding& binding) {
  const size_t result = std::min(binding.desired.size(), binding.keys.size());
  for (size_t index = 0; index < result; ++index) {
    const ib::PKey key = binding.keys[index];
    if (wish.pkey ? key.same_partition(*wish.pkey) : binding.desired[index].partition == wish.name)
      return key;
  }
  return std::nullopt;
}

}  // namespace

Result<node::Record> record_of(const node::Records& records, const nodeapi::AttachmentName& name) {
  const std::string attachment = "attachment " + name.container_id + ":" + name.ifname;
  const std::vector<node::RecordName> names =
      TRY(records.of_attachment(name.container_id, name.ifname));
  if (names.empty())
    return Error(Code::unavailable, "no record of " + attachment +
                                        " in the agent's stateDir: set the same stateDir for the "
                                        "plugin and the agent");
  for (const node::RecordName& one : names) {
    Result<node::Record> record = records.read(one);
    if (!record && record.error().code() == Code::not_found) continue;
    if (!record || name.attempt.empty() || name.attempt == record->attempt) return record;
  }
  return Error(Code::unavailable, attachment + " is being replaced by another ADD");
}

Result<fabricapi::BindRequest> make_bind_request(const node::Record& record,
                                                 const std::string& node, const PfIdentity& pf) {
  if (record.spec.partitions.empty())
    return Error(Code::invalid, "the attachment names no partition");
  fabricapi::BindRequest request;
  request.attachment = {node, record.container_id, record.ifname};
  request.guid = node::port_of(record);
  if (request.guid.none())
    return Error(Code::invalid, "the port of " + record.device.text() + " has no GUID");
  request.guid_requested = node::has_requested_guid(record);
  request.kind = record.child ? fabric::Kind::child : fabric::Kind::vf;
  request.pf = record.child ? record.child->master : pf.name;
  request.pf_guid = pf.port;
  request.device = record.device.text();
  request.pod = {record.pod.name_space, record.pod.name, record.pod.uid};
  for (const node::PartitionRequest& wish : record.spec.partitions) {
    const fabricapi::BindRequest::PartitionRequest asked = TRY(to_partition_request(wish));
    request.partitions.push_back(asked);
  }
  return request;
}

fabric::Attachment attachment_of(const std::string& node, const nodeapi::AttachmentName& name) {
  return {node, name.container_id, name.ifname};
}

bool is_granted(const fabric::Binding& binding) {
  const bool stands = binding.state == fabric::BindingState::requested ||
                      binding.state == fabric::BindingState::written ||
                      binding.state == fabric::BindingState::verified;
  return binding.guid_requested && stands;
}

nodeapi::Binding to_node_binding(const fabric::Binding& binding) {
  return {std::string(name(binding.state)),
          std::string(name(binding.condition.reason)),
          binding.condition.text,
          {},
          std::string(name(binding.proof)),
          std::string(name(binding.enforcement)),
          is_granted(binding)};
}

Result<nodeapi::Binding> to_node_binding(const fabric::Binding& binding,
                                         const node::Record& record) {
  nodeapi::Binding answer = to_node_binding(binding);
  if (binding.state != fabric::BindingState::verified) return answer;
  for (const node::PartitionRequest& wish : record.spec.partitions) {
    const std::optional<ib::PKey> key = key_of(wish, binding);
    if (!key)
      return Error(Code::internal, "the SM service did not return the P_Key of partition " +
                                       wish.label() + ": check its version");
    answer.keys.push_back(*key);
  }
  return answer;
}

}  // namespace ibpod::agent::sm_client
