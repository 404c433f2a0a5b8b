#include "lib/fabricapi/node_messages.h"

#include "lib/fabricapi/binding_messages.h"
#include "lib/fabricapi/fields.h"

#include <set>

namespace ibpod::fabricapi {
namespace {

constexpr size_t kLongestStamp = 256;
constexpr size_t kLongestBoot = 64;
constexpr uint32_t kMostVf = 0xffff;

using AttachmentId = SyncRequest::AttachmentId;
template <typename Message>
using Repeated = google::protobuf::RepeatedPtrField<Message>;

Result<std::vector<AttachmentId>> read_present(const Repeated<v1::Present>& messages,
                                               const std::string& field) {
  TRY(check_count(field, messages.size(), kMostAttachments));
  std::vector<AttachmentId> all;
  for (const v1::Present& message : messages) {
    AttachmentId present;
    present.container = TRY(read_container(field + ".container", message.container()));
    present.interface = TRY(read_interface(field + ".interface", message.interface()));
    all.push_back(std::move(present));
  }
  return all;
}

void write_present(const std::vector<AttachmentId>& all, Repeated<v1::Present>& messages) {
  for (const AttachmentId& present : all) {
    v1::Present& message = *messages.Add();
    message.set_container(present.container);
    message.set_interface(present.interface);
  }
}

Result<std::vector<fabric::Binding>> read_bindings(const Repeated<v1::Binding>& messages,
                                                   std::string_view field) {
  std::vector<fabric::Binding> bindings;
  for (const v1::Binding& message : messages) {
    fabric::Binding binding = TRY(from_message(message).during(field));
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

Result<ib::PKeyTable> read_table(const google::protobuf::RepeatedField<uint32_t>& places) {
  ib::PKeyTable table;
  for (const uint32_t place : places) {
    if (place > UINT16_MAX) return wrong_number("ports.table", place, "P_Keys of 16 bits");
    table.emplace_back(static_cast<uint16_t>(place));
  }
  return table;
}

Result<std::string> read_stamp(const std::string& stamp) {
  if (stamp.empty()) return stamp;
  return read_word("stamp", stamp, kLongestStamp);
}

// Any GUID is accepted: an impossible one matches no record.
Result<std::vector<ib::Guid>> read_ports(const google::protobuf::RepeatedField<uint64_t>& values,
                                         std::string_view field, int most = kMostPorts) {
  TRY(check_count(field, values.size(), most));
  return std::vector<ib::Guid>(values.begin(), values.end());
}

Status check_vf(std::string_view field, uint32_t vf) {
  if (vf <= kMostVf) return ok();
  return wrong_number(field, vf, "the number of a VF: 0 to 65535");
}

}  // namespace

v1::SyncRequest to_message(const SyncRequest& request) {
  v1::SyncRequest message;
  message.set_node(request.node);
  write_present(request.attachments, *message.mutable_attachments());
  for (const ib::Guid guid : request.vfs) message.add_vfs(guid.value());
  for (const ib::Guid guid : request.pfs) message.add_pfs(guid.value());
  message.set_boot(request.boot);
  return message;
}

Result<SyncRequest> from_message(const v1::SyncRequest& message) {
  SyncRequest request;
  request.node = TRY(read_node("node", message.node()));
  request.attachments = TRY(read_present(message.attachments(), "attachments"));
  request.vfs = TRY(read_ports(message.vfs(), "vfs"));
  request.pfs = TRY(read_ports(message.pfs(), "pfs"));
  if (!message.boot().empty()) request.boot = TRY(read_word("boot", message.boot(), kLongestBoot));
  return request;
}

v1::SyncResponse to_message(const SyncAnswer& answer) {
  v1::SyncResponse message;
  for (const fabric::Binding& one : answer.bindings) *message.add_bindings() = to_message(one);
  write_present(answer.not_bound, *message.mutable_not_bound());
  for (const fabric::Binding& one : answer.not_named) *message.add_not_named() = to_message(one);
  message.set_lease_ms(answer.lease.count());
  for (const ib::Guid guid : answer.unknown) message.add_unknown(guid.value());
  return message;
}

Result<SyncAnswer> from_message(const v1::SyncResponse& message) {
  SyncAnswer answer;
  answer.bindings = TRY(read_bindings(message.bindings(), "bindings"));
  answer.not_bound = TRY(read_present(message.not_bound(), "not_bound"));
  answer.not_named = TRY(read_bindings(message.not_named(), "not_named"));
  answer.lease = Duration(message.lease_ms());
  // They are among the VFs and PFs of the request.
  answer.unknown = TRY(read_ports(message.unknown(), "unknown", 2 * kMostPorts));
  return answer;
}

v1::ObserveRequest to_message(const ObserveRequest& request) {
  v1::ObserveRequest message;
  message.set_node(request.node);
  message.set_stamp(request.stamp);
  for (const ObserveRequest::PortTable& seen : request.ports) {
    v1::PortTable& port = *message.add_ports();
    port.set_guid(seen.guid.value());
    for (const ib::PKey place : seen.table) port.add_table(place.value());
  }
  return message;
}

Result<ObserveRequest> from_message(const v1::ObserveRequest& message) {
  ObserveRequest request;
  request.node = TRY(read_node("node", message.node()));
  request.stamp = TRY(read_stamp(message.stamp()));
  TRY(check_count("ports", message.ports().size(), kMostPorts));
  std::set<ib::Guid> guids;
  int places = 0;
  for (const v1::PortTable& port : message.ports()) {
    TRY(check_count("ports.table", port.table().size(), kMostTableEntries));
    places += port.table().size();
    if (places > kMostReportedTableEntries)
      return wrong_number(
          "ports.table", places,
          "at most " + std::to_string(kMostReportedTableEntries) + " entries over all ports");
    ObserveRequest::PortTable seen;
    seen.guid = TRY(read_guid("ports.guid", port.guid()));
    seen.table = TRY(read_table(port.table()));
    if (!guids.insert(seen.guid).second)
      return wrong("ports.guid", seen.guid.text(), "each port once");
    request.ports.push_back(std::move(seen));
  }
  return request;
}

Status check_answer(const v1::ObserveResponse& answer) {
  TRY(read_stamp(answer.stamp()));
  for (const uint64_t guid : answer.wanted()) TRY(read_guid("wanted", guid));
  return ok();
}

v1::AllocateGuidsRequest to_message(const AllocateRequest& request) {
  v1::AllocateGuidsRequest message;
  message.set_node(request.node);
  message.set_pf(request.pf);
  for (const uint32_t vf : request.vfs) message.add_vfs(vf);
  return message;
}

Result<AllocateRequest> from_message(const v1::AllocateGuidsRequest& message) {
  AllocateRequest request;
  request.node = TRY(read_node("node", message.node()));
  request.pf = TRY(read_pci("pf", message.pf()));
  TRY(check_count("vfs", message.vfs().size(), kMostVfs));
  std::set<uint32_t> seen;
  for (const uint32_t vf : message.vfs()) {
    TRY(check_vf("vfs", vf));
    if (!seen.insert(vf).second) return wrong_number("vfs", vf, "each VF once");
    request.vfs.push_back(vf);
  }
  return request;
}

v1::AllocateGuidsResponse to_message(const std::vector<AllocatedGuid>& allocated) {
  v1::AllocateGuidsResponse message;
  for (const AllocatedGuid& one : allocated) {
    v1::AllocateGuidsResponse::Allocated& guid = *message.add_guids();
    guid.set_vf(one.vf);
    guid.set_guid(one.guid.value());
  }
  return message;
}

Result<std::vector<AllocatedGuid>> from_message(const v1::AllocateGuidsResponse& message) {
  std::vector<AllocatedGuid> allocated;
  for (const v1::AllocateGuidsResponse::Allocated& one : message.guids()) {
    TRY(check_vf("guids.vf", one.vf()));
    const ib::Guid guid = TRY(read_guid("guids.guid", one.guid()));
    allocated.push_back({one.vf(), guid});
  }
  return allocated;
}

v1::ForgetNodeRequest to_message(const ForgetRequest& request) {
  v1::ForgetNodeRequest message;
  message.set_node(request.node);
  message.set_force(request.force);
  return message;
}

Result<ForgetRequest> from_message(const v1::ForgetNodeRequest& message) {
  const std::string node = TRY(read_node("node", message.node()));
  return ForgetRequest{node, message.force()};
}

Status check_answer(const v1::FabricNode& node) {
  TRY(read_node("name", node.name()));
  return ok();
}

Status check_answer(const v1::ListNodesResponse& answer) {
  for (const v1::FabricNode& node : answer.nodes()) TRY(check_answer(node).during("nodes"));
  return ok();
}

}  // namespace ibpod::fabricapi
