// The audit log of changes.
#include "sm/bindings/admission.h"
#include "sm/controller/controller.h"
#include "sm/controller/own_caller.h"
#include "sm/state/names.h"

#include <utility>

namespace ibpod::sm::controller {

using fabricapi::Caller;

void Controller::audit(const Caller& caller, std::string action, std::string subject,
                       const Status& status, telemetry::Telemetry::Effect effect) {
  if (!status) return deps_.telemetry.audit(caller, action, subject, status);
  when_committed([this, caller, action = std::move(action), subject = std::move(subject),
                  effect](const Status& committed) {
    deps_.telemetry.audit(caller, action, subject, committed, effect);
  });
}

telemetry::Telemetry::Effect Controller::effect_since(uint64_t changes) const {
  return deps_.registry.journal.changes() == changes ? telemetry::Telemetry::Effect::none
                                                     : telemetry::Telemetry::Effect::change;
}

// Also reports possible signs of a compromised node: its first pod of a namespace, or a request for
// a partition that is not for this node.
void Controller::audit_bind(const PostponedBind& bind, const Status& status,
                            telemetry::Telemetry::Effect effect) {
  const fabricapi::BindRequest& request = bind.request;
  const std::string subject = text(request.attachment);
  audit(bind.caller, "bind", subject, status, effect);
  if (!status) {
    const std::string partition =
        status.error().code() == Code::denied
            ? bindings::denied_to_node(deps_.registry.journal.records(), request)
            : "";
    if (!partition.empty()) deps_.telemetry.wrong_node(bind.caller, subject, partition);
    return;
  }
  audit_namespace(bind);
}

void Controller::audit_namespace(const PostponedBind& bind) {
  const fabricapi::BindRequest& request = bind.request;
  const auto seen = namespaces_.add(request.attachment.node, request.pod.name_space);
  if (!seen.full && seen.others == 0) return;
  when_committed([this, caller = bind.caller, attachment = request.attachment,
                  name_space = request.pod.name_space, seen](const Status& committed) {
    if (!committed) return;
    if (seen.full)
      return deps_.telemetry.uncertain_first_binding(caller, attachment.node,
                                                     namespaces_.take_full(attachment.node));
    deps_.telemetry.first_binding(caller, text(attachment), name_space, seen.others);
  });
}

void Controller::remember_namespaces() {
  fabricapi::PageRequest page;
  do {
    const auto listed = deps_.registry.bindings.list({}, page);
    if (!listed) return;
    for (const fabric::Binding& one : listed->items)
      namespaces_.add(one.attachment.node, one.pod.name_space);
    page.token = listed->next;
  } while (!page.token.empty());
}

void Controller::audit_expired(const std::vector<fabric::Attachment>& expired,
                               const Status& committed) {
  for (const fabric::Attachment& one : expired)
    deps_.telemetry.audit(own_caller("lease"), "unbind", text(one), committed);
}

}  // namespace ibpod::sm::controller
