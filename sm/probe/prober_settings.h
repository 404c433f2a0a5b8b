// ProberSettings: the intervals, timeouts and the M_Key of a SmpPortProber.
#pragma once

#include "sm/probe/poll_schedule.h"
#include "sm/probe/port_probe.h"
#include "sm/probe/scan_plan.h"

namespace ibpod::sm::probe {

struct ProberSettings {
  ScanPace scan = {};
  PollPace poll = {};
  mad::MKey m_key = mad::MKey::none;
  Duration timeout{200};  // for an answer; a port is silent after `attempts` of them
  int attempts = 3;
  Duration limit{5000};             // of one step of a probe
  Duration discovery_limit{60000};  // of a discovery

  ProbeOptions probe_options(mad::Urgency urgency) const {
    return {.urgency = urgency,
            .m_key = m_key,
            .timeout = timeout,
            .attempts = attempts,
            .limit = limit,
            .reread_switch_port = urgency != mad::Urgency::scan};
  }
};

}  // namespace ibpod::sm::probe
