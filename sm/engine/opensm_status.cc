// What OpenSm answers, to any thread.
#include "sm/engine/opensm.h"
#include "sm/engine/own_port.h"

namespace ibpod::sm {

Standing OpenSm::judge() const {
  Standing standing = turn_.standing();
  const auto& missing = keeper_.trouble();
  if (refusal_ && !missing && standing.health != Health::failed_open) {
    standing.health = Health::refused;
    standing.trouble = refusal_->text();
  } else if (standing.health == Health::gone) {
    if (keeper_.other_file()) standing.health = Health::other_file;
    if (missing) standing.trouble = missing->text();
    if (!missing && !file_.in_place()) standing.health = Health::starting;
  } else if (standing.health == Health::failed_open) {
    standing.trouble = "OpenSM has thrown " + file_.path().string() +
                       " away, and every port is a full member of the default partition: it is "
                       "given the file again; see " +
                       paths_.log.string();
  } else if (standing.health == Health::stuck) {
    standing.trouble = "OpenSM does not come to the end of a sweep: see " + paths_.log.string();
  } else if (standing.health == Health::not_master) {
    standing.port_down = turn_.state() == Turn::State::port_down;
    standing.trouble = standing.port_down
                           ? "the port of OpenSM is down"
                           : "another subnet manager is master: end it, or give ours a higher "
                             "priority";
  } else if (standing.health == Health::serving) {
    standing.trouble = file_.refusal();
  }
  standing.undone_edit = file_.refusal();
  if (keeper_.shared_cgroup()) standing.shared_cgroup = keeper_.shared_cgroup()->text();
  if (keeper_.start_refused()) standing.start_refused = keeper_.start_refused()->text();
  return standing;
}

void OpenSm::publish() {
  Standing standing = judge();
  {
    const std::lock_guard lock(mutex_);
    section_ = file_.section();
    bytes_ = file_.bytes();
    if (standing == standing_) return;
    standing_ = std::move(standing);
  }
  changed_();
}

void OpenSm::want(uint64_t version, Partitions partitions) {
  {
    const std::lock_guard lock(mutex_);
    if (version <= wanted_) return;
    wanted_ = version;
    wanted_partitions_ = std::move(partitions);
  }
  wake_.ring();
}

Standing OpenSm::standing() const {
  const std::lock_guard lock(mutex_);
  return standing_;
}

Status OpenSm::check(const std::vector<fabric::Partition>& partitions) const {
  std::shared_ptr<const Section> section;
  size_t present = 0;
  {
    const std::lock_guard lock(mutex_);
    section = section_;
    present = bytes_;
  }
  TRY(check_own_port(partitions, settings_.keeper.opensm.port));
  const std::string text =
      TRY(fabric::render(as_written(partitions), section->text, options_of(settings_.keeper.opensm))
              .during("the partitions.conf that OpenSM would be given"));
  return check_growth(present, text.size());
}

std::vector<fabric::Partition> OpenSm::administrators() const {
  const std::lock_guard lock(mutex_);
  return section_->partitions;
}

}  // namespace ibpod::sm
