// What the log keeps of who has changed what.
#include "sm/registry/names.h"
#include "sm/controller/controller.h"

#include <utility>

namespace ibpod::sm {
namespace {

using fabricapi::Caller;

// Who changes something though nobody asks.
Caller itself(const std::string& name) {
  return {.role = fabricapi::Role::administrator, .node = {}, .name = name};
}

}  // namespace

void Steward::audit(const Caller& caller, std::string action, std::string subject,
                    const Status& status, Report::Effect effect) {
  if (!status) return world_.report.audit(caller, action, subject, status);
  when_committed([this, caller, action = std::move(action), subject = std::move(subject),
                  effect](const Status& committed) {
    world_.report.audit(caller, action, subject, committed, effect);
  });
}

Report::Effect Steward::effect_since(uint64_t changes) const {
  return world_.ledger.changes() == changes ? Report::Effect::none : Report::Effect::change;
}

// With what somebody should know who asks whether a node does what it should not: it has bound its
// first pod of a namespace, or it is none of those that a partition is for.
void Steward::audit_bind(const Postponed& one, const Status& status, Report::Effect effect) {
  const fabricapi::BindRequest& request = one.request;
  const std::string subject = text(request.attachment);
  audit(one.caller, "bind", subject, status, effect);
  if (!status) {
    const std::string partition =
        status.error().code() == Code::denied ? world_.ledger.closed_to_node(request) : "";
    if (!partition.empty()) world_.report.wrong_node(one.caller, subject, partition);
    return;
  }
  audit_namespace(one);
}

void Steward::audit_namespace(const Postponed& one) {
  const fabricapi::BindRequest& request = one.request;
  const auto seen = namespaces_.add(request.attachment.node, request.pod.name_space);
  if (!seen.full && seen.others == 0) return;
  when_committed([this, caller = one.caller, attachment = request.attachment,
                  name_space = request.pod.name_space, seen](const Status& committed) {
    if (!committed) return;
    if (seen.full)
      return world_.report.uncertain_first_binding(caller, attachment.node,
                                                   namespaces_.take_full(attachment.node));
    world_.report.first_binding(caller, text(attachment), name_space, seen.others);
  });
}

void Steward::remember_namespaces() {
  fabricapi::Page page;
  do {
    const auto listed = world_.ledger.bindings(kItself, {}, page);
    if (!listed) return;
    for (const fabric::Binding& one : listed->items)
      namespaces_.add(one.attachment.node, one.pod.name_space);
    page.token = listed->next;
  } while (!page.token.empty());
}

Steward::Administered Steward::administered() const {
  Administered all;
  fabricapi::Page page;
  do {
    const auto listed = world_.ledger.partitions(kItself, page);
    if (!listed) return all;
    for (const fabric::TenancyStatus& one : listed->items)
      if (one.state != fabric::TenancyState::deleting)
        all.emplace(one.tenancy.name, std::pair(one.tenancy, one.declared));
    page.token = listed->next;
  } while (!page.token.empty());
  return all;
}

void Steward::audit_declared(const Administered& before) {
  const Caller file = itself("declared file");
  const Administered after = administered();
  for (const auto& [name, one] : after) {
    const auto was = before.find(name);
    if (was == before.end())
      audit(file, "create partition", name, ok());
    else if (was->second != one)
      audit(file, "update partition", name, ok());
  }
  for (const auto& [name, one] : before)
    if (!after.contains(name)) audit(file, "delete partition", name, ok());
}

void Steward::audit_lapsed() {
  for (const fabric::Attachment& one : world_.ledger.take_lapsed())
    audit(itself("lease"), "unbind", text(one), ok());
}

}  // namespace ibpod::sm
