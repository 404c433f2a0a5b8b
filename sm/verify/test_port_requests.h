// The requests for one port, as tests set them.
#pragma once

#include "sm/verify/port_requests.h"

namespace ibpod::sm::verify {

struct FakePortRequests final : PortRequests {
  explicit FakePortRequests(ib::Guid guid) : port(guid) { binding.guid = guid; }

  uint64_t changed_in(ib::Guid) const override { return version; }
  std::vector<const fabric::Binding*> bindings_on(ib::Guid guid) const override {
    if (guid != port || !bound) return {};
    return {&binding};
  }
  bool needs_no_proof(ib::Guid) const override { return no_proof; }
  bool is_being_forgotten(const std::string&) const override { return forgetting; }

  ib::Guid port;
  fabric::Binding binding;
  bool bound = true;
  uint64_t version = 1;  // of all ports
  bool no_proof = false;
  bool forgetting = false;
};

}  // namespace ibpod::sm::verify
