#include "lib/nodeapi/messages.h"

namespace ibpod::nodeapi {

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
