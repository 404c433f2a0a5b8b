// Preflight: checks of a UFM by what its REST interface shows: its release, its settings, and the
// rights of our user. Faults are findings for the doctor; the engine works with all of them.
#pragma once

#include "lib/base/clock.h"
#include "sm/engine/engine_finding.h"
#include "sm/ufm/ufm_api.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::ufm {

// The oldest release that the calls are written for. NVIDIA's infra-controller requires it, too.
inline constexpr std::string_view kLeastRelease = "6.23.1";

struct PreflightAnswers {
  Result<std::string> version;
  Result<SiteSettings> settings;
  Result<std::vector<ib::Guid>> ports;
  Result<std::vector<UfmVport>> vports;
  std::vector<std::string> denials = {};  // UfmApi::denials()
};

// Pure. An answer that is missing is a finding. An empty list of virtual ports is none: UFM shows
// them only while its own virtualization switch is on, which says nothing about the adapters, and
// which no call shows.
std::vector<engine::EngineFinding> findings_of(const PreflightAnswers& answers);

// Makes the calls from time to time, one in each tick(), so that no change has to wait for all.
class Preflight {
 public:
  using Time = Deadline::Clock::time_point;

  Preflight();
  // Makes the next call, if one is due. True if it has made one. Only while UFM answers other
  // calls.
  bool tick(UfmApi& api, Time now);
  // When the next call is due.
  Time due() const { return due_; }
  // Those of the last time that all calls were made.
  const std::vector<engine::EngineFinding>& findings() const { return findings_; }

 private:
  PreflightAnswers answers_;
  size_t next_ = 0;  // the number of the next call
  Time due_{};
  std::vector<engine::EngineFinding> findings_;
};

}  // namespace ibpod::sm::ufm
