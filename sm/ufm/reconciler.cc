#include "sm/ufm/reconciler.h"

#include "lib/base/join.h"

#include <algorithm>
#include <utility>

namespace ibpod::sm::ufm {
namespace {

using engine::EngineStatus;
using engine::Health;
using Use = Connection::Use;

// Under a flow of changes, what was changed is read after so many calls.
constexpr size_t kMostSteps = 16;
// If more partitions have to be read, all are, with one call.
constexpr size_t kMostReadApart = 8;
constexpr std::chrono::seconds kDiskPause{5};

}  // namespace

Reconciler::Reconciler(Deps deps, const EngineSettings& settings)
    : api_(deps.api),
      read_interval_(settings.read_interval),
      pkeys_(settings.pkeys),
      states_(settings, std::move(deps.written)),
      connection_(std::move(deps.random)),
      placements_(settings.effect) {}

// A definition that UFM cannot have keeps the whole version back: check() refuses it before.
void Reconciler::want(uint64_t version, const std::vector<fabric::PartitionDefinition>& definitions,
                      Time now) {
  Result<DesiredPartitions> desired = desired_of(definitions, pkeys_);
  if (!desired) {
    fault_ = {desired.error().text(), Time::max()};
    return;
  }
  if (fault_ && fault_->retry == Time::max()) fault_.reset();
  newest_ = {version, std::make_shared<const DesiredPartitions>(std::move(desired).value()), now};
  if (candidate_.number == 0 || placements_.placed() >= candidate_.number) candidate_ = newest_;
  states_.want(newest_.partitions);
}

bool Reconciler::tick(Time now) {
  placements_.advance(now);
  states_.expire(now);
  if (newest_.number == 0) return false;
  if (has_other_master()) {
    generation_ = api_.master_generation();
    states_.invalidate();
  }
  const ShownPartitions& shown = states_.shown();
  if (!shown.is_complete() || now >= next_scan_)
    return connection_.may(Use::read, now) && scan(now);
  const std::set<ib::PKey> touched = shown.touched();
  if (touched.empty()) note_in_place(now);
  std::optional<Step> step;
  if (connection_.may(Use::change, now) && (!fault_ || now >= fault_->retry))
    step = states_.next_step(now);
  if (step && steps_ < kMostSteps) return take(*step, now);
  if (touched.empty()) return false;
  if (!connection_.may(Use::read, now)) return false;
  return touched.size() > kMostReadApart ? scan(now) : read(*touched.begin(), now);
}

bool Reconciler::scan(Time now) {
  Result<std::vector<UfmPartition>> read = api_.partitions();
  if (!read) {
    note_failure(Use::read, read.error(), now);
    return true;
  }
  connection_.succeeded(Use::read);
  generation_ = api_.master_generation();
  next_scan_ = now + read_interval_;
  steps_ = 0;
  note_lost(states_.read_all(std::move(read).value(), now));
  return true;
}

bool Reconciler::read(ib::PKey pkey, Time now) {
  Result<std::optional<UfmPartition>> read = api_.partition(pkey);
  if (!read) {
    note_failure(Use::read, read.error(), now);
    return true;
  }
  connection_.succeeded(Use::read);
  if (has_other_master()) return true;
  note_lost(states_.read(pkey, std::move(read).value(), now));
  if (states_.shown().touched().empty()) steps_ = 0;
  return true;
}

bool Reconciler::take(const Step& step, Time now) {
  const Status recorded = states_.begin(step, now);
  if (!recorded) {
    fault_ = {"cannot record the change before it is made: " + recorded.error().text(),
              now + kDiskPause};
    return false;
  }
  fault_.reset();
  ++steps_;
  const Status done = step.of_class.kind == Step::Kind::addition
                          ? api_.add(addition_of(step))
                          : api_.remove(step.pkey, step.guids);
  if (done) {
    connection_.succeeded(Use::change);
    states_.accepted(step);
    return true;
  }
  switch (done.error().code()) {
    case Code::denied:
    case Code::unavailable:
    case Code::busy:
    case Code::internal:
      note_failure(Use::change, done.error(), now);
      return true;
    default:
      connection_.succeeded(Use::change);
      states_.refused(step, done.error().text(), now);
      return true;
  }
}

// Another server than the one that was read, or the same after a failure: it may lack the last
// changes.
bool Reconciler::has_other_master() const { return api_.master_generation() != generation_; }

// A UFM that did not answer may have been replaced by its standby, and the call may have had its
// effect: all partitions are read before the next change.
void Reconciler::note_failure(Use use, const Error& error, Time now) {
  connection_.failed(use, error, api_.peer(), now);
  states_.invalidate();
}

void Reconciler::note_lost(bool lost) {
  if (!lost) return;
  ++totals_.losses;
  placements_.lost();
  candidate_ = newest_;
}

void Reconciler::note_in_place(Time now) {
  while (states_.are_in_place(*candidate_.partitions)) {
    const bool is_newest = candidate_.number == newest_.number;
    if (candidate_.number > placements_.placed()) ++totals_.reconciled;
    placements_.placed(candidate_.number, now);
    if (candidate_.number > totals_.accepted) {
      totals_.accepted = candidate_.number;
      totals_.last = std::chrono::duration_cast<Duration>(now - candidate_.since);
      totals_.sum += totals_.last;
    }
    candidate_ = newest_;
    if (is_newest) return connection_.no_change_pending();
  }
}

std::optional<Reconciler::Time> Reconciler::alarm(Time now) const {
  if (newest_.number == 0) return std::nullopt;
  std::optional<Time> first;
  const auto add = [&](std::optional<Time> time) {
    if (time && *time > now && (!first || *time < *first)) first = time;
  };
  add(states_.shown().is_complete() ? next_scan_ : connection_.not_before(Use::read));
  add(connection_.not_before(Use::read));
  add(connection_.not_before(Use::change));
  add(states_.due(now));
  add(placements_.due());
  if (fault_ && fault_->retry != Time::max()) add(fault_->retry);
  return first;
}

EngineStatus Reconciler::status(Time now) const {
  EngineStatus status;
  status.placed = placements_.placed();
  status.swept = placements_.swept();
  status.losses = totals_.losses;
  status.health = connection_.health();
  status.findings = states_.findings(now);
  if (fault_) {
    status.health = Health::refused;
    status.trouble = fault_->text;
  } else if (status.health != Health::serving) {
    status.trouble = connection_.trouble();
  } else if (states_.counts().scans == 0) {
    status.health = Health::starting;
  } else if (states_.are_stuck(now)) {
    status.health = Health::stuck;
    status.trouble =
        "UFM accepts changes of partitions, and has shown none for minutes; see UFM's log";
  } else {
    status.trouble = join(status.findings, "; ", &engine::EngineFinding::text);
  }
  return status;
}

UfmCounts Reconciler::counts() const {
  UfmCounts counts = states_.counts();
  counts.reconciled = totals_.reconciled;
  counts.time_to_accepted = totals_.last;
  counts.sum_to_accepted = totals_.sum;
  return counts;
}

}  // namespace ibpod::sm::ufm
