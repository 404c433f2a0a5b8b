#include "agent/fabric/bind_request.h"

#include <algorithm>

namespace ibpod::agent {
namespace {

Result<fabricapi::BindRequest::Wish> wish_of(const node::PartitionWish& wish) {
  if (wish.membership.empty()) return fabricapi::BindRequest::Wish{wish.name, std::nullopt};
  const auto membership = fabric::parse_membership(wish.membership);
  if (membership) return fabricapi::BindRequest::Wish{wish.name, *membership};
  return Error(Code::invalid, "partition " + wish.name + ": membership \"" + wish.membership +
                                  "\": expected limited, full or both");
}

}  // namespace

ib::Guid port_of(const node::Record& record) {
  if (record.child) return record.child->port;
  const node::Guids none;
  return record.wanted.guids.value_or(record.found.guids.value_or(none)).port;
}

Result<fabricapi::BindRequest> bind_request(const node::Record& record, const std::string& node,
                                            const PfOfDevice& pf) {
  if (record.wanted.partitions.empty())
    return Error(Code::invalid, "the attachment names no partition");
  fabricapi::BindRequest request;
  request.attachment = {node, record.container_id, record.ifname};
  request.guid = port_of(record);
  if (request.guid.none())
    return Error(Code::invalid, "the port of " + record.device.text() + " has no GUID");
  request.kind = record.child ? fabric::Kind::child : fabric::Kind::vf;
  request.pf = record.child ? record.child->master : pf.name;
  request.pf_guid = pf.port;
  request.device = record.device.text();
  request.pod = {record.pod.name_space, record.pod.name, record.pod.uid};
  for (const node::PartitionWish& wish : record.wanted.partitions) {
    const fabricapi::BindRequest::Wish asked = TRY(wish_of(wish));
    request.partitions.push_back(asked);
  }
  return request;
}

fabric::Attachment attachment_of(const std::string& node, const nodeapi::AttachmentName& name) {
  return {node, name.container_id, name.ifname};
}

nodeapi::Binding told(const fabric::Binding& binding) {
  return {std::string(name(binding.state)),
          std::string(name(binding.standing.reason)),
          binding.standing.text,
          {},
          std::string(name(binding.proof)),
          std::string(name(binding.enforcement))};
}

Result<nodeapi::Binding> told(const fabric::Binding& binding, const node::Record& record) {
  nodeapi::Binding answer = told(binding);
  if (binding.state != fabric::State::verified) return answer;
  for (const node::PartitionWish& wish : record.wanted.partitions) {
    const auto share = std::find_if(binding.shares.begin(), binding.shares.end(),
                                    [&](const auto& one) { return one.partition == wish.name; });
    const auto place = static_cast<size_t>(share - binding.shares.begin());
    if (share == binding.shares.end() || place >= binding.keys.size())
      return Error(Code::internal, "the SM service did not tell the P_Key of partition " +
                                       wish.name + ": is it an older version?");
    answer.keys.push_back(binding.keys[place]);
  }
  return answer;
}

}  // namespace ibpod::agent
