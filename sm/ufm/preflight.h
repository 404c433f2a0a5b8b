// Preflight: checks of a UFM by what its REST interface shows: its release, its settings, and the
// rights of our user. Faults are findings for the doctor; the engine works with all of them.
#pragma once

#include "sm/engine/engine_finding.h"
#include "sm/ufm/ufm_api.h"

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
};

// Makes the calls, one after another. Only while UFM answers: an answer that is missing is a
// finding.
PreflightAnswers ask(UfmApi& api);

// Pure. An empty list of virtual ports is no finding: UFM shows them only while its own
// virtualization switch is on, which says nothing about the adapters, and which no call shows.
std::vector<engine::EngineFinding> preflight(const PreflightAnswers& answers);

}  // namespace ibpod::sm::ufm
