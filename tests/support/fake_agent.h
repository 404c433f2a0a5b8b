// FakeAgent: a node's agent, as far as the plugins ask it: what the kubelet gave which pod, and
// partitions.
#pragma once

#include "lib/nodeapi/node.h"
#include "tests/support/fake_binder.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace ibpod::fake {

struct FakeAgent : nodeapi::Node {
  std::map<std::pair<std::string, std::string>, std::string> given;  // pod and resource: device
  std::map<std::string, std::string> pools;                          // device: its resource
  bool kubelet = false;          // whether the node has one that is asked about a device
  bool answers_devices = true;   // an older one does not know the question
  std::optional<Error> away;     // what it answers instead
  FakeBinder* binder = nullptr;  // nobody: it has no SM service

  Result<v1::ListDevicesResponse> devices(Deadline) override { return v1::ListDevicesResponse(); }
  Result<v1::ListAttachmentsResponse> attachments(Deadline) override {
    return v1::ListAttachmentsResponse();
  }
  Result<v1::ExplainResponse> explain(const std::string& device, Deadline) override {
    if (away) return *away;
    v1::ExplainResponse explanation;
    explanation.mutable_device()->set_address(device);
    const auto found = pools.find(device);
    if (found != pools.end()) explanation.mutable_device()->set_resource(found->second);
    return explanation;
  }
  Result<v1::HealthResponse> health(Deadline) override {
    if (away) return *away;
    if (binder != nullptr && binder->away) return *binder->away;
    v1::HealthResponse health;
    health.set_binds(binder != nullptr);
    return health;
  }
  Result<std::string> device_of(const nodeapi::DeviceQuestion& question, Deadline) override {
    if (away) return *away;
    const std::string pod = question.pod_namespace + "/" + question.pod_name;
    if (!question.device.empty() && !answers_devices) return std::string();
    if (!question.device.empty()) return check(pod, question.device);
    const auto found = given.find({pod, question.resource});
    return found == given.end() ? std::string() : found->second;
  }
  Result<nodeapi::Binding> bind(const nodeapi::AttachmentName& name, Wait wait, Deadline) override {
    if (away) return *away;
    if (binder == nullptr) return Error(Code::unsupported, "no SM service");
    return binder->bind(name, wait);
  }
  Result<nodeapi::Binding> unbind(const nodeapi::AttachmentName& name, Deadline) override {
    if (away) return *away;
    if (binder == nullptr) return Error(Code::unsupported, "no SM service");
    return binder->unbind(name);
  }

 private:
  Result<std::string> check(const std::string& pod, const std::string& device) const {
    if (!kubelet) return Error(Code::unsupported, "the agent has no kubelet (kubelet: false)");
    for (const auto& [whose, one] : given) {
      if (whose.first == pod && one == device) return device;
    }
    return Error(Code::denied, "the kubelet has not allocated it to the pod " + pod);
  }
};

}  // namespace ibpod::fake
