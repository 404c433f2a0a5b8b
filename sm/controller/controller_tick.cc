// What comes behind whatever has happened: to disk, to the engine, and to who waits.
#include "sm/engine/partitions_file.h"
#include "sm/registry/names.h"
#include "sm/controller/controller.h"

#include <utility>

namespace ibpod::sm {

bool Steward::commit() {
  const bool writes = world_.ledger.staged();
  const Status committed = world_.ledger.commit(now_);
  if (writes || !committed)
    world_.report.trouble("store", committed ? "" : committed.error().text());
  if (!committed) declare_later();
  for (const auto& answer : std::exchange(answers_, {})) answer(committed);
  return committed.ok();
}

// What is on disk and not with the engine yet goes there.
void Steward::enforce() {
  if (world_.ledger.version() != told_) {
    told_ = world_.ledger.version();
    partitions_ = world_.ledger.partitions();
    want_anew();
    world_.engine.want(told_, partitions_);
  }
  world_.ledger.note_written(placed_.newest(), now_);
  world_.ledger.note_swept(swept_.newest());
  world_.ledger.note_hindrance(hindrance_);
  world_.ledger.note_retired(now_);
}

// By whoever else writes the tables the default key may be elsewhere.
std::vector<fabric::Partition> Steward::in_tables(std::vector<fabric::Partition> own) const {
  own.insert(own.end(), administrators_.begin(), administrators_.end());
  return world_.engine.writes() ? as_written(std::move(own)) : std::move(own);
}

void Steward::want_anew() {
  std::vector<fabric::Partition> others = administrators_;
  others.insert(others.begin(), partitions_->front());
  others_ = Wanted(others);
  all_ = in_tables(*partitions_);
  wanted_ = Wanted(all_);
}

std::optional<Report::Course> Steward::course_of(const fabric::Attachment& attachment) const {
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  const auto asked = asked_.find(attachment);
  if (asked == asked_.end()) return std::nullopt;
  const Placements::Time now = world_.clock();
  return Report::Course{duration_cast<microseconds>(now - asked->second),
                        duration_cast<microseconds>(now - now_.steady)};
}

void Steward::tell_changes() {
  note_ended();
  const std::vector<fabricapi::BindingChange> changes = world_.ledger.take_changes();
  for (const fabricapi::BindingChange& change : changes) {
    world_.report.changed(change.binding, course_of(change.binding.attachment));
    // A node that has been silent may have begun anew, with other tables.
    if (change.binding.standing.reason == fabric::Reason::lease)
      sightings_.forget_node(change.binding.guid);
    const auto asked = asked_.find(change.binding.attachment);
    const bool verified = change.binding.state == fabric::State::verified;
    if (asked != asked_.end() && verified)
      world_.report.verified(change.binding.proof, now_.steady - asked->second);
    if (asked != asked_.end() && (verified || change.gone)) asked_.erase(asked);
    waiting_.tell(change.binding);
    if (change.gone) left_.insert(change.binding.guid);
  }
  watches_.tell(changes);
}

// Who waits for a port that somebody has left now. Whether anybody has got it.
bool Steward::retry_postponed() {
  const std::set<ib::Guid> left = std::exchange(left_, {});
  if (left.empty() || postponed_.empty()) return false;
  std::vector<Postponed> retried;
  for (Postponed& one : std::exchange(postponed_, {})) {
    if (left.contains(one.request.guid))
      retried.push_back(std::move(one));
    else
      postponed_.push_back(std::move(one));
  }
  for (Postponed& one : retried) try_bind(std::move(one));
  return !retried.empty();
}

void Steward::turn() {
  world_.report.tell_dropped();
  const Status expired = world_.ledger.expire(now_);
  world_.report.trouble("leases", expired ? "" : expired.error().text());
  audit_lapsed();
  give_up_postponed();
  do {
    if (commit()) enforce();
    tell_changes();
  } while (retry_postponed() || declare_again());
  mend();
  hurry();
  waiting_.expire(now_.steady, [this](const fabric::Attachment& attachment) {
    const auto binding = world_.ledger.binding(kItself, attachment);
    return binding ? std::optional(*binding) : std::nullopt;
  });
  answer_forgetting();
}

// What has waited for as long as it would is over: nobody may be there any more to own it.
void Steward::give_up_postponed() {
  for (Postponed& one : std::exchange(postponed_, {})) {
    if (one.patience.gone())
      refuse(one, kGone);
    else if (one.until > now_.steady)
      postponed_.push_back(std::move(one));
    else
      refuse(one, one.why);
  }
}

void Steward::refuse(const Postponed& one, const Error& why) {
  audit(one.caller, "bind", text(one.request.attachment), why);
  one.done(why);
}

void Steward::drop_postponed(const fabric::Attachment& attachment) {
  for (Postponed& one : std::exchange(postponed_, {})) {
    if (one.request.attachment != attachment)
      postponed_.push_back(std::move(one));
    else
      refuse(one, Error(Code::unavailable, "it has been unbound before the port was free"));
  }
}

void Steward::answer_forgetting() {
  for (Forgetting& one : std::exchange(forgetting_, {})) {
    const std::optional<fabricapi::Node> node = world_.ledger.node(one.node);
    if (node && one.until > now_.steady)
      forgetting_.push_back(std::move(one));
    else
      one.done(node.value_or(fabricapi::Node{.name = one.node, .last_heard = {}}));
  }
}

std::optional<Placements::Time> Steward::due() const {
  std::optional<Placements::Time> first = waiting_.due();
  const auto consider = [&](std::optional<Placements::Time> time) {
    if (time && (!first || *time < *first)) first = time;
  };
  consider(world_.ledger.next_expiry());
  consider(declare_at_);
  for (const Postponed& one : postponed_) consider(one.until);
  for (const Forgetting& one : forgetting_) consider(one.until);
  return first;
}

}  // namespace ibpod::sm
