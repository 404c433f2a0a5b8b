// UfmTelemetry: the metrics of UFM: the calls to it, and the members that it shows. Thread-safe.
#pragma once

#include "sm/telemetry/telemetry.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ibpod::sm::telemetry {

// In the order of docs/metrics.md, after listener_families().
const std::vector<http::Family>& ufm_families();

// The members that UFM has made full, and those that it has accepted and not shown, both since the
// start; and the present numbers of foreign members, and of VFs that are confined to their PF or
// not.
struct UfmMembers {
  uint64_t widened = 0;
  uint64_t ignored = 0;
  uint64_t foreign = 0;
  uint64_t confined_vfs = 0;
  uint64_t unconfined_vfs = 0;
};

class UfmTelemetry {
 public:
  // `telemetry` outlives it.
  explicit UfmTelemetry(Telemetry& telemetry) : telemetry_(telemetry) {}

  // One call to UFM has ended; nothing as `failure`: it has done what it was asked.
  void called(std::string_view operation, std::optional<Code> failure,
              std::chrono::duration<double> took);
  void set_members(const UfmMembers& members);

 private:
  Telemetry& telemetry_;
};

}  // namespace ibpod::sm::telemetry
