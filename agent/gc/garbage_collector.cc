#include "agent/gc/garbage_collector.h"

#include "lib/attach/release.h"
#include "lib/base/join.h"

#include <algorithm>

namespace ibpod::agent::gc {
namespace {

using netns::NetnsStatus;
using Time = Deadline::Clock::time_point;

void add_source_error(Evidence& evidence, const Error& error) {
  add_item(evidence.source_error, "; ", error.text());
}

// Its DEL has come.
const Evaluation kEnded{Verdict::dead, "it has ended", false};

bool same_pod(const node::PodName& a, const node::PodName& b) {
  return !a.name.empty() && a.name == b.name && a.name_space == b.name_space;
}

}  // namespace

GarbageCollector::Candidate GarbageCollector::examine(const node::RecordName& name) {
  Candidate one{{name, {}, {}, Verdict::unknown, "", false, ""}, deps_.records.read(name), {}};
  const Result<ib::PciAddress> vf = ib::PciAddress::parse(name.folder);
  if (vf) one.outcome.vf = *vf;
  if (!one.record) {
    one.outcome.reason = one.record.error().text();
    return one;
  }
  one.outcome.pod = one.record->pod;
  one.evidence.this_boot = one.record->boot_id == deps_.boot_id;
  if (!one.evidence.this_boot) return one;
  const Result<NetnsStatus> netns_status = deps_.namespaces.status_of(one.record->netns);
  one.evidence.netns = netns_status ? *netns_status : NetnsStatus::unclear;
  if (!netns_status) add_source_error(one.evidence, netns_status.error());
  return one;
}

void GarbageCollector::query_kubelet(std::vector<Candidate>& candidates) {
  const Result<std::vector<PodDevices>> pods = deps_.pods->list_pods();
  for (Candidate& one : candidates) {
    if (!pods) add_source_error(one.evidence, pods.error());
    if (!pods || !one.record) continue;
    const bool succeeded =
        std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& other) {
          return other.record && other.evidence.this_boot &&
                 other.evidence.netns == NetnsStatus::same &&
                 other.record->container_id != one.record->container_id &&
                 same_pod(other.record->pod, one.record->pod);
        });
    one.evidence.kubelet = kubelet_liveness(*one.record, *pods, succeeded);
  }
}

void GarbageCollector::query_runtime(std::vector<Candidate>& candidates) {
  const Result<std::vector<std::string>> ids = deps_.sandboxes->list_sandboxes();
  for (Candidate& one : candidates) {
    one.evidence.runtime = LivenessSource::silent;
    if (!ids) add_source_error(one.evidence, ids.error());
    if (!ids || !one.record) continue;
    const bool there = std::find(ids->begin(), ids->end(), one.record->container_id) != ids->end();
    one.evidence.runtime = there ? LivenessSource::has_pod : LivenessSource::lacks_pod;
  }
}

// They are asked after all namespaces were looked at, and only if anything hangs on it.
void GarbageCollector::query_sources(std::vector<Candidate>& candidates) {
  const bool needed = std::any_of(candidates.begin(), candidates.end(), [](const Candidate& one) {
    return one.record && one.evidence.this_boot && one.evidence.netns != NetnsStatus::same;
  });
  if (!needed) return;
  for (Candidate& one : candidates) {
    if (deps_.pods == nullptr) one.evidence.kubelet = LivenessSource::none;
  }
  if (deps_.pods != nullptr) query_kubelet(candidates);
  if (deps_.sandboxes != nullptr) query_runtime(candidates);
}

void GarbageCollector::RunState::request_rerun_at(Time when) {
  gc_run.request_rerun(std::chrono::ceil<Duration>(when - now));
}

bool GarbageCollector::is_confirmed(const Candidate& one, RunState& run_state) {
  const auto [entry, first] = pending_confirmations_.try_emplace(
      one.outcome.record, PendingConfirmation{one.record->attempt, run_state.now});
  PendingConfirmation& pending_confirmation = entry->second;
  if (pending_confirmation.attempt != one.record->attempt)
    pending_confirmation = {one.record->attempt, run_state.now};
  if (pending_confirmation.since + kConfirmationDelay <= run_state.now) return true;
  run_state.request_rerun_at(pending_confirmation.since + kConfirmationDelay);
  return false;
}

// A DEL that failed may have ended it all the same: only addresses are owed then.
void GarbageCollector::release(Candidate& one) {
  const Status ended = deps_.plugins.del(*one.record);
  const Result<node::Record> left = deps_.records.read(one.outcome.record);
  one.outcome.released =
      left ? left->attempt != one.record->attempt : left.error().code() == Code::not_found;
  if (one.outcome.released) return;
  one.outcome.failure =
      !ended ? ended.error().text()
      : left && left->stage == node::Stage::pkey_pending
          ? "the port's table still has the P_Keys of its partitions"
          : "the plugin's DEL did not remove the record: its device is missing, or stateDir in "
            "its configuration is not the agent's";
}

void GarbageCollector::release_damaged(Candidate& one, const std::vector<node::RecordName>& names) {
  std::vector<node::RecordName> others = names;
  std::erase(others, one.outcome.record);
  const Status collected = deps_.plugins.collect(one.outcome.record, others);
  const Result<node::Record> left = deps_.records.read(one.outcome.record);
  one.outcome.released = !left && left.error().code() == Code::not_found;
  if (!collected) one.outcome.failure = collected.error().text();
}

// True while its failed release waits for the next try. A new attempt of the same container does
// not wait.
bool GarbageCollector::is_paused(Candidate& one, RunState& run_state) {
  const auto failure = failures_.find(one.outcome.record);
  if (failure == failures_.end()) return false;
  if (failure->second.attempt != (one.record ? one.record->attempt : "")) {
    failures_.erase(failure);
    return false;
  }
  if (failure->second.not_before <= run_state.now) return false;
  one.outcome.failure = failure->second.text;
  run_state.request_rerun_at(failure->second.not_before);
  return true;
}

void GarbageCollector::end_attachment(Candidate& one, const std::vector<node::RecordName>& names,
                                      RunState& run_state) {
  const bool paused = is_paused(one, run_state);
  if (paused) return;
  if (one.record) release(one);
  if (!one.record) release_damaged(one, names);
  if (one.outcome.released) {
    failures_.erase(one.outcome.record);
    return;
  }
  Failure& failure = failures_[one.outcome.record];
  failure.attempt = one.record ? one.record->attempt : "";
  failure.text = one.outcome.failure;
  failure.pause = std::min(std::max(kFirstPause, 2 * failure.pause),
                           std::max(kFirstPause, run_state.longest_pause));
  failure.not_before = run_state.now + failure.pause;
  run_state.request_rerun_at(failure.not_before);
}

void GarbageCollector::decide(Candidate& one, RunState& run_state) {
  if (!one.record) {
    pending_confirmations_.erase(one.outcome.record);
    one.release_now = attach::is_damaged(one.record);
    return;
  }
  const Evaluation evaluation =
      one.record->stage != node::Stage::attached ? kEnded : evaluate(one.evidence);
  one.outcome.verdict = evaluation.verdict;
  one.outcome.reason = evaluation.reason;
  if (evaluation.verdict != Verdict::dead) {
    pending_confirmations_.erase(one.outcome.record);
  } else if (evaluation.needs_confirmation && !is_confirmed(one, run_state)) {
    one.outcome.failure = "it will be checked once more before it is released";
  } else {
    one.release_now = true;
  }
}

void GarbageCollector::publish_verdicts(const std::vector<Candidate>& candidates) const {
  if (!on_verdicts_) return;
  GcRun gc_run;
  for (const Candidate& one : candidates) gc_run.outcomes.push_back(one.outcome);
  on_verdicts_(gc_run);
}

void GarbageCollector::retain_only(const std::vector<node::RecordName>& names) {
  const auto is_gone = [&](const auto& entry) {
    return std::find(names.begin(), names.end(), entry.first) == names.end();
  };
  std::erase_if(pending_confirmations_, is_gone);
  std::erase_if(failures_, is_gone);
}

// A record of before this pass counts as one, too: the plugin looks for itself.
void GarbageCollector::remove_strays(const std::vector<node::RecordName>& names, GcRun& gc_run) {
  if (deps_.strays == nullptr) return;
  Result<std::vector<std::string>> strays = deps_.strays->list_strays();
  if (strays) gc_run.strays = *strays;
  Status done = ok();
  if (!gc_run.strays.empty()) done = deps_.plugins.remove_strays(names);
  if (!strays) done = std::move(strays).error();
  if (!done) gc_run.strays_failure = done.error().text();
}

Result<GcRun> GarbageCollector::run(Time now, Duration longest_pause) {
  const std::vector<node::RecordName> names = TRY(deps_.records.all());
  std::vector<Candidate> candidates;
  for (const node::RecordName& name : names) {
    Candidate one = examine(name);
    // Its DEL has just come.
    const bool gone = !one.record && one.record.error().code() == Code::not_found;
    if (!gone) candidates.push_back(std::move(one));
  }
  retain_only(names);
  query_sources(candidates);
  RunState run_state{now, longest_pause};
  for (Candidate& one : candidates) decide(one, run_state);
  publish_verdicts(candidates);
  for (Candidate& one : candidates) {
    if (one.release_now) end_attachment(one, names, run_state);
    run_state.gc_run.outcomes.push_back(std::move(one.outcome));
  }
  remove_strays(names, run_state.gc_run);
  addresses_.run(deps_, now, longest_pause, run_state.gc_run);
  return run_state.gc_run;
}

}  // namespace ibpod::agent::gc
