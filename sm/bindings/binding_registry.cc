#include "sm/bindings/binding_registry.h"

#include "sm/bindings/admission.h"
#include "sm/bindings/authz.h"
#include "sm/bindings/lifecycle.h"
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
                                              const PortFacts& facts, Now now) {
  Memberships memberships = TRY(admit(journal_, caller, request, facts));
  BindingRecord* const present = journal_.state().find_binding(request.attachment);
  if (present == nullptr) return bind_new(caller, request, std::move(memberships), now);
  if (present->binding.desired != memberships) return rebind(*present, std::move(memberships), now);
  renew(journal_, *present, now);
  return present->binding;
}

fabric::Binding BindingRegistry::bind_new(const Caller& caller, const BindRequest& request,
                                          Memberships memberships, Now now) {
  if (claims_pf(caller, request, records(), journal_.policy())) {
    journal_.state().claim(request.guid, request.attachment.node);
    journal_.staged().add(state::RecordKind::node, request.attachment.node);
  }
  fabric::Binding binding;
  binding.attachment = request.attachment;
  binding.guid = request.guid;
  binding.guid_requested = request.guid_requested;
  binding.kind = request.kind;
  binding.pf = request.pf;
  binding.pf_guid = request.pf_guid;
  binding.device = request.device;
  binding.pod = request.pod;
  binding.applied = memberships;
  binding.desired = std::move(memberships);
  binding.generation = 1;
  binding.condition = {Reason::waiting, ""};
  binding.asked = binding.changed = now.wall;
  BindingRecord& entry = journal_.state().add(std::move(binding), {});
  renew(journal_, entry, now);
  journal_.staged().add(entry);
  journal_.refresh(entry.binding.guid);
  return entry.binding;
}

// Lost keys must leave the table before new ones come.
fabric::Binding BindingRegistry::rebind(BindingRecord& entry, Memberships memberships, Now now) {
  fabric::Binding& binding = entry.binding;
  Memberships pending = entry.pending_removal;
  const Memberships lost = state::only_in_first(binding.applied, memberships);
  pending.insert(pending.end(), lost.begin(), lost.end());
  Memberships applied =
      pending.empty() ? memberships : state::in_both(binding.applied, memberships);
  journal_.state().set_memberships(entry, std::move(memberships), std::move(applied),
                                   std::move(pending));
  ++binding.generation;
  renew(journal_, entry, now);
  journal_.set_status(entry, BindingState::requested, {Reason::waiting, ""}, now);
  journal_.staged().add(entry);
  journal_.refresh(binding.guid);
  return binding;
}

Result<fabric::Binding> BindingRegistry::unbind(const fabric::Attachment& attachment, Now now) {
  TRY(journal_.check_readable());
  BindingRecord* const found = journal_.state().find_binding(attachment);
  if (found == nullptr) {
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
