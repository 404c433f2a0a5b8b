// Events, and tick(), which commits, publishes and answers.
#include "sm/controller/controller.h"
#include "sm/controller/own_caller.h"

namespace ibpod::sm::controller {

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

}  // namespace ibpod::sm::controller
