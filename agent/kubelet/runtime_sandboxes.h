// The node's sandboxes by the container runtime's word.
#pragma once

#include "agent/gc/gc_deps.h"
#include "lib/kube/container_runtime.h"

namespace ibpod::agent::kubelet {

class RuntimeSandboxes : public gc::Sandboxes {
 public:
  explicit RuntimeSandboxes(kube::ContainerRuntime runtime) : runtime_(std::move(runtime)) {}
  Result<std::vector<std::string>> list_sandboxes() override {
    return runtime_.ready_sandboxes(Deadline::in(Duration(10'000)));
  }

 private:
  kube::ContainerRuntime runtime_;
};

}  // namespace ibpod::agent::kubelet
