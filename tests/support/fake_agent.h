// FakeAgent: a node's agent, as far as the plugins ask it: what the kubelet gave which pod.
#pragma once

#include "lib/nodeapi/node.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace ibpod::fake {

struct FakeAgent : nodeapi::Node {
  std::map<std::pair<std::string, std::string>, std::string> given;  // pod and resource: device
  std::optional<Error> away;                                         // what it answers instead

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
    return nodeapi::Health();
  }
  Result<std::string> device_of(const nodeapi::DeviceQuestion& question, Deadline) override {
    if (away) return *away;
    const auto found =
        given.find({question.pod_namespace + "/" + question.pod_name, question.resource});
    return found == given.end() ? std::string() : found->second;
  }
};

}  // namespace ibpod::fake
