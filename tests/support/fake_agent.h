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
  std::optional<Error> away;                                         // what it answers instead
  FakeBinder* binder = nullptr;                                      // nobody: it has no SM service

  Result<std::vector<nodeapi::Device>> devices(Deadline) override {
    return std::vector<nodeapi::Device>();
  }
  Result<std::vector<nodeapi::Attachment>> attachments(Deadline) override {
    return std::vector<nodeapi::Attachment>();
  }
  Result<nodeapi::Explanation> explain(const std::string& device, Deadline) override {
    return Error(Code::not_found, device);
  }
  Result<nodeapi::Health> health(Deadline) override {
    if (away) return *away;
    if (binder != nullptr && binder->away) return *binder->away;
    nodeapi::Health health;
    health.binds = binder != nullptr;
    return health;
  }
  Result<std::string> device_of(const nodeapi::DeviceQuestion& question, Deadline) override {
    if (away) return *away;
    const auto found =
        given.find({question.pod_namespace + "/" + question.pod_name, question.resource});
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
};

}  // namespace ibpod::fake
