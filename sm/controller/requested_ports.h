// RequestedPorts: the registry's bindings and partitions as the port verifier needs them.
#pragma once

#include "sm/bindings/registries.h"
#include "sm/verify/port_verifier.h"

#include <string>
#include <vector>

namespace ibpod::sm::controller {

class RequestedPorts final : public verify::PortRequests {
 public:
  // `registry` must outlive it.
  explicit RequestedPorts(const bindings::Registries& registry) : registry_(registry) {}

  uint64_t changed_in(ib::Guid port) const override { return registry_.bindings.changed_in(port); }
  std::vector<const fabric::Binding*> bindings_on(ib::Guid port) const override {
    return registry_.bindings.bindings_on(port);
  }
  bool needs_no_proof(ib::Guid port) const override {
    return registry_.bindings.needs_no_proof(port);
  }
  bool is_being_forgotten(const std::string& node) const override {
    const auto known = registry_.nodes.find(node);
    return known && known->forgetting();
  }

 private:
  const bindings::Registries& registry_;
};

}  // namespace ibpod::sm::controller
