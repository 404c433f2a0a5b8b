// The status of OpenSm as others see it, and its calls that any thread may make.
#include "sm/opensm/opensm.h"
#include "sm/opensm/own_port.h"

namespace ibpod::sm::opensm {

engine::EngineStatus OpenSm::evaluate_status() const {
  engine::EngineStatus status = sweep_tracker_.standing();
  const auto& missing = supervisor_.fault();
  if (refusal_ && !missing && status.health != engine::Health::failed_open) {
    status.health = engine::Health::refused;
    status.trouble = refusal_->text();
  } else if (status.health == engine::Health::gone) {
    if (supervisor_.other_file()) status.health = engine::Health::other_file;
    if (missing) status.trouble = missing->text();
    if (!missing && !file_.in_place()) status.health = engine::Health::starting;
  } else if (status.health == engine::Health::failed_open) {
    status.trouble = "OpenSM has rejected " + file_.path().string() +
                     ", and every port is a full member of the default partition: ibpod-sm writes "
                     "the file again; see " +
                     log_.path().string();
  } else if (status.health == engine::Health::stuck) {
    status.trouble = "OpenSM does not finish a sweep: see " + log_.path().string();
  } else if (status.health == engine::Health::not_master) {
    status.port_down = sweep_tracker_.state() == SweepTracker::State::port_down;
    status.trouble = status.port_down
                         ? "the port of OpenSM is down"
                         : "another subnet manager is master: stop it, or raise opensm.priority";
  } else if (status.health == engine::Health::serving) {
    status.trouble = file_.refusal();
  }
  status.undone_edit = file_.refusal();
  if (supervisor_.shared_cgroup()) status.shared_cgroup = supervisor_.shared_cgroup()->text();
  if (supervisor_.start_refused()) status.start_refused = supervisor_.start_refused()->text();
  return status;
}

void OpenSm::publish() { published_.publish(evaluate_status(), {file_.section(), file_.bytes()}); }

void OpenSm::apply(uint64_t version, engine::Partitions partitions) {
  if (desired_.set({version, std::move(partitions)})) events_.ring();
}

engine::EngineStatus OpenSm::status() const { return published_.status(); }

Status OpenSm::check(const std::vector<fabric::PartitionDefinition>& definitions) const {
  const PublishedStatus::File present = published_.file();
  TRY(check_own_port(definitions, settings_.launcher.opensm.port));
  const std::string text =
      TRY(fabric::render(opensm::as_written(definitions), present.section->text,
                         options_of(settings_.launcher.opensm))
              .during("the new partitions.conf"));
  return check_growth(present.bytes, text.size());
}

std::vector<fabric::PartitionDefinition> OpenSm::manual_partitions() const {
  return published_.file().section->partitions;
}

std::vector<fabric::PartitionDefinition> OpenSm::as_written(
    std::vector<fabric::PartitionDefinition> definitions) const {
  return opensm::as_written(std::move(definitions));
}

}  // namespace ibpod::sm::opensm
