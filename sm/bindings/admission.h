// admit(): the admission of a Bind.
#pragma once

#include "sm/bindings/port_facts.h"
#include "sm/state/journal.h"

namespace ibpod::sm::bindings {

// The granted memberships, sorted. Errors: invalid if never possible, denied if the node or the pod
// may not have it, exists if the attachment has another port, kind, device or pod, unavailable
// while its node is being forgotten, busy if another binding or a limit is in the way.
Result<state::Memberships> admit(const state::Journal& journal, const fabricapi::Caller& caller,
                                 const fabricapi::BindRequest& request, const PortFacts& facts);

// The first requested partition that allows the pod's namespace but not its node; empty: none.
std::string denied_to_node(const state::Records& records, const fabricapi::BindRequest& request);

}  // namespace ibpod::sm::bindings
