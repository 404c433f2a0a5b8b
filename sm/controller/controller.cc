#include "sm/controller/controller.h"

#include "sm/controller/own_caller.h"

namespace ibpod::sm::controller {

Controller::Controller(Deps deps, ControllerSettings settings, state::Now now)
    : deps_(std::move(deps)),
      now_(now),
      fabric_(deps_, {.epoch = std::move(settings.epoch),
                      .own_port = settings.own_port,
                      .node_report_lifetime = settings.node_report_lifetime}),
      declared_({deps_.registry, deps_.subnet_manager, deps_.telemetry}, settings.has_declared_file,
                now.steady),
      diagnostics_({deps_.registry, deps_.subnet_manager, fabric_.verifier(), fabric_.published(),
                    declared_},
                   settings.sm, now),
      commits_(deps_.registry.journal, deps_.telemetry),
      binding_calls_({deps_.registry, fabric_, commits_, deps_.telemetry, deps_.clock},
                     {.max_pending = settings.max_pending, .changes = settings.changes}),
      calls_({deps_.registry, fabric_, declared_, diagnostics_, commits_, binding_calls_,
              pending_forgets_, watches_, now_},
             settings.call_timeout) {}

// --- events

void Controller::engine_changed() {
  fabric_.engine_changed(now_);
  declared_.engine_changed(now_.steady);
}

void Controller::probed(const probe::ProbeBatch& batch) { fabric_.probed(batch, now_); }

// The order of the steps matters: only committed changes are published and answered.
void Controller::tick() {
  deps_.telemetry.log_dropped();
  const Status expired = deps_.registry.bindings.expire(now_);
  deps_.telemetry.report_condition("leases", expired ? "" : expired.error().text());
  binding_calls_.expire_postponed(now_.steady);
  const auto audit = [this](const std::string& action, const std::string& partition) {
    commits_.audit(own_caller("declared file"), action, partition, ok());
  };
  do {
    if (commits_.commit(now_))
      fabric_.publish(now_);  // only what is on disk
    else
      declared_.commit_failed(now_.steady);
    notify_changes();
  } while (binding_calls_.retry_postponed(now_) || declared_.reconcile(now_, audit));
  fabric_.repair_and_poll();
  binding_calls_.expire(now_.steady);
  pending_forgets_.answer(deps_.registry.nodes, now_.steady);
}

std::optional<Controller::Time> Controller::due() const {
  std::optional<Time> first;
  for (const std::optional<Time> time :
       {binding_calls_.due(), deps_.registry.bindings.next_expiry(), declared_.due(),
        pending_forgets_.due()})
    if (time && (!first || *time < *first)) first = time;
  return first;
}

void Controller::notify_changes() {
  const std::vector<fabricapi::BindingChange> changes = deps_.registry.journal.take_changes();
  for (const fabricapi::BindingChange& change : changes) {
    binding_calls_.notify(change, now_);
    // A node that was silent may have rebooted: its earlier reports do not count.
    if (change.binding.condition.reason == fabric::Reason::lease)
      fabric_.forget_report(change.binding.guid);
  }
  watches_.notify(changes);
}

void Controller::update_metrics() {
  const std::set<ib::Guid>& unsettled = deps_.registry.bindings.unsettled();
  deps_.telemetry.bindings(deps_.registry.bindings.counts(), unsettled.size(),
                           binding_calls_.pending());
  deps_.telemetry.engine(deps_.subnet_manager.status(), fabric_.published().version());
  const diagnose::DeclaredFileFaults faults = declared_.faults();
  if (faults.declared) deps_.telemetry.declared_file(faults.texts.empty());
  std::map<std::string_view, size_t> issues;
  for (const auto& [issue, count] : diagnostics_.health_checks(now_).counts)
    issues[diagnose::name(issue)] = count;
  deps_.telemetry.issues(issues);
}

}  // namespace ibpod::sm::controller
