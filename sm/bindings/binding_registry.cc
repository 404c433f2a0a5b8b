#include "sm/bindings/binding_registry.h"

#include "sm/bindings/admission.h"
#include "sm/bindings/lifecycle.h"
#include "sm/bindings/node_registry.h"
#include "sm/state/names.h"

#include <utility>

namespace ibpod::sm::bindings {

using fabric::BindingState;
using fabric::Reason;
using fabricapi::BindRequest;
using state::BindingRecord;
using state::Memberships;
using state::Now;

Result<fabric::Binding> BindingRegistry::bind(const Caller& caller, const BindRequest& request,
                                              const PortFacts& facts, Now now,
                                              const Status& may_change) {
  Memberships memberships = TRY(admit(journal_, caller, request, facts));
  BindingRecord* const present = journal_.state().find_binding(request.attachment);
  if (present != nullptr && present->binding.desired == memberships) {
    renew(journal_, *present, now);
    return present->binding;
  }
  TRY(may_change);
  if (present == nullptr)
    return create(journal_, caller, request, std::move(memberships), now).binding;
  rebind(journal_, *present, std::move(memberships), now);
  return present->binding;
}

Result<fabric::Binding> BindingRegistry::unbind(const fabric::Attachment& attachment, Now now) {
  TRY(journal_.check_readable());
  BindingRecord* const found = journal_.state().find_binding(attachment);
  if (found == nullptr) {
    TRY(check_known_cluster(journal_, attachment.node).during("attachment.node"));
    fabric::Binding none;
    none.attachment = attachment;
    none.state = BindingState::released;
    return none;
  }
  release(journal_, *found, {Reason::waiting, ""}, now);
  return found->binding;
}

Status BindingRegistry::expire(Now now) {
  TRY(journal_.check_readable());
  const auto& leases = records().leases;
  while (!leases.empty() && leases.begin()->first <= now.steady)
    end_lease(journal_, *leases.begin()->second, now);
  return ok();
}

std::optional<state::Steady> BindingRegistry::next_expiry() const {
  if (records().leases.empty()) return std::nullopt;
  return records().leases.begin()->first;
}

}  // namespace ibpod::sm::bindings
