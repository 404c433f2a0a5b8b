// The rules for ports that are not on the subnet: whether their keys count as in place, or as
// removed, although their tables cannot be read.
#pragma once

#include "sm/verify/engine_progress.h"
#include "sm/verify/port_observations.h"
#include "sm/verify/port_requests.h"

namespace ibpod::sm::verify {

enum class Absence {
  nothing,         // nothing follows
  needs_no_proof,  // with `proof: none` it is enough that the subnet manager has the keys
  holds_no_key,    // its released bindings can end
  holds_none_new,  // keys that it was given since a scan last found it have never reached it
};

struct AbsenceSources {
  const PortObservations& observations;
  const PortRequests& requests;
  const EngineProgress& engine;
};

// `reason`: why the port's table cannot be read. The faults of the port are not considered.
Absence classify_absence(ib::Guid port, fabric::Reason reason, const AbsenceSources& sources);

// `condition` of a port whose table cannot be read; if no port of the subnet has its GUID, with the
// cause: it is a virtual port, which no scan finds, or it has left the subnet.
fabric::Condition explain_absence(ib::Guid port, const fabric::Condition& condition,
                                  const AbsenceSources& sources);

}  // namespace ibpod::sm::verify
