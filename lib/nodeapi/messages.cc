#include "lib/nodeapi/messages.h"

namespace ibpod::nodeapi {

v1::Device to_message(const Device& device) {
  v1::Device message;
  message.set_address(device.address);
  message.set_pf(device.pf);
  message.set_pf_name(device.pf_name);
  message.set_vf(device.vf);
  message.set_driver(device.driver);
  message.set_resource(device.resource);
  message.set_healthy(device.healthy);
  message.set_reason(device.reason);
  message.set_attachment(device.attachment);
  message.set_port_guid(device.port_guid);
  message.set_state(device.state);
  message.set_pkeys(device.pkeys);
  if (device.numa) message.set_numa(*device.numa);
  for (const std::string& name : device.rdma) message.add_rdma(name);
  for (const std::string& name : device.char_devices) message.add_char_devices(name);
  return message;
}

Device from_message(const v1::Device& message) {
  Device device;
  device.address = message.address();
  device.pf = message.pf();
  device.pf_name = message.pf_name();
  device.vf = message.vf();
  device.driver = message.driver();
  device.resource = message.resource();
  device.healthy = message.healthy();
  device.reason = message.reason();
  device.attachment = message.attachment();
  device.port_guid = message.port_guid();
  device.state = message.state();
  device.pkeys = message.pkeys();
  if (message.has_numa()) device.numa = message.numa();
  device.rdma = {message.rdma().begin(), message.rdma().end()};
  device.char_devices = {message.char_devices().begin(), message.char_devices().end()};
  return device;
}

v1::Attachment to_message(const Attachment& attachment) {
  v1::Attachment message;
  message.set_plugin(attachment.plugin);
  message.set_network(attachment.network);
  message.set_container_id(attachment.container_id);
  message.set_ifname(attachment.ifname);
  message.set_pod_namespace(attachment.pod_namespace);
  message.set_pod_name(attachment.pod_name);
  message.set_pod_uid(attachment.pod_uid);
  message.set_device(attachment.device);
  message.set_netns(attachment.netns);
  message.set_pkey(attachment.pkey);
  message.set_verdict(attachment.verdict);
  message.set_reason(attachment.reason);
  return message;
}

Attachment from_message(const v1::Attachment& message) {
  Attachment attachment;
  attachment.plugin = message.plugin();
  attachment.network = message.network();
  attachment.container_id = message.container_id();
  attachment.ifname = message.ifname();
  attachment.pod_namespace = message.pod_namespace();
  attachment.pod_name = message.pod_name();
  attachment.pod_uid = message.pod_uid();
  attachment.device = message.device();
  attachment.netns = message.netns();
  attachment.pkey = message.pkey();
  attachment.verdict = message.verdict();
  attachment.reason = message.reason();
  return attachment;
}

v1::ExplainResponse to_message(const Explanation& explanation) {
  v1::ExplainResponse message;
  *message.mutable_device() = to_message(explanation.device);
  for (const Choice& choice : explanation.pools) {
    v1::ExplainResponse::Pool& pool = *message.add_pools();
    pool.set_resource(choice.resource);
    pool.set_chosen(choice.chosen);
    pool.set_reason(choice.reason);
  }
  return message;
}

Explanation from_message(const v1::ExplainResponse& message) {
  Explanation explanation{from_message(message.device()), {}};
  for (const v1::ExplainResponse::Pool& pool : message.pools())
    explanation.pools.push_back({pool.resource(), pool.chosen(), pool.reason()});
  return explanation;
}

v1::HealthResponse to_message(const Health& health) {
  v1::HealthResponse message;
  message.set_registered(health.registered);
  message.set_binds(health.sm_managed);
  for (const Finding& finding : health.findings) {
    v1::HealthResponse::Finding& one = *message.add_findings();
    one.set_subject(finding.subject);
    one.set_text(finding.text);
    one.set_remedy(finding.remedy);
  }
  return message;
}

Health from_message(const v1::HealthResponse& message) {
  Health health;
  health.registered = message.registered();
  health.sm_managed = message.binds();
  for (const v1::HealthResponse::Finding& one : message.findings())
    health.findings.push_back({one.subject(), one.text(), one.remedy()});
  return health;
}

v1::DeviceOfRequest to_message(const DeviceQuestion& question) {
  v1::DeviceOfRequest message;
  message.set_pod_namespace(question.pod_namespace);
  message.set_pod_name(question.pod_name);
  message.set_resource(question.resource);
  message.set_container_id(question.container_id);
  message.set_ifname(question.ifname);
  message.set_device(question.device);
  return message;
}

DeviceQuestion from_message(const v1::DeviceOfRequest& message) {
  return {message.pod_namespace(), message.pod_name(), message.resource(),
          message.container_id(),  message.ifname(),   message.device()};
}

v1::AttachmentBinding to_message(const Binding& binding) {
  v1::AttachmentBinding message;
  message.set_state(binding.state);
  message.set_reason(binding.reason);
  message.set_text(binding.text);
  for (const ib::PKey key : binding.keys) message.add_pkeys(key.value());
  message.set_proof(binding.proof);
  message.set_enforcement(binding.enforcement);
  message.set_granted(binding.granted);
  return message;
}

Result<Binding> from_message(const v1::AttachmentBinding& message) {
  Binding binding{message.state(), message.reason(),      message.text(),   {},
                  message.proof(), message.enforcement(), message.granted()};
  for (const uint32_t number : message.pkeys()) {
    const ib::PKey key = TRY(ib::PKey::from_number(number).during("pkeys"));
    binding.keys.push_back(key);
  }
  return binding;
}

}  // namespace ibpod::nodeapi
