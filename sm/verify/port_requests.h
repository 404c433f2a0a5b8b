// PortRequests: the requests for ports, a read-only view of the bindings and partitions.
#pragma once

#include "lib/fabric/binding.h"
#include "lib/ib/guid.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ibpod::sm::verify {

class PortRequests {
 public:
  PortRequests() = default;
  PortRequests(const PortRequests&) = delete;
  PortRequests& operator=(const PortRequests&) = delete;
  PortRequests(PortRequests&&) = delete;
  PortRequests& operator=(PortRequests&&) = delete;
  virtual ~PortRequests() = default;

  // The version in which the keys of the port last changed; 0: it has no keys.
  virtual uint64_t changed_in(ib::Guid port) const = 0;
  // Valid until the next change.
  virtual std::vector<const fabric::Binding*> bindings_on(ib::Guid port) const = 0;
  // True if every partition of the port has `proof: none`.
  virtual bool needs_no_proof(ib::Guid port) const = 0;
  virtual bool is_being_forgotten(const std::string& node) const = 0;
};

}  // namespace ibpod::sm::verify
