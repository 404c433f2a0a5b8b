#include "agent/gc/garbage_collector.h"

#include "lib/attach/release.h"

#include <algorithm>

namespace ibpod::agent {
namespace {

using netns::Sight;
using Time = Deadline::Clock::time_point;

void add_trouble(Evidence& evidence, const Error& error) {
  evidence.trouble += (evidence.trouble.empty() ? "" : "; ") + error.text();
}

// Its DEL has come.
const Judgement kEnded{Verdict::dead, "it has ended", false};

bool same_pod(const node::PodName& a, const node::PodName& b) {
  return !a.name.empty() && a.name == b.name && a.name_space == b.name_space;
}

}  // namespace

Sweeper::Case Sweeper::open(const node::RecordName& name) {
  Case one{{name, {}, {}, Verdict::unknown, "", false, ""}, world_.records.read(name), {}};
  const Result<ib::PciAddress> vf = ib::PciAddress::parse(name.folder);
  if (vf) one.outcome.vf = *vf;
  if (!one.record) {
    one.outcome.reason = one.record.error().text();
    return one;
  }
  one.outcome.pod = one.record->pod;
  one.evidence.this_boot = one.record->boot_id == world_.boot_id;
  if (!one.evidence.this_boot) return one;
  const Result<Sight> sight = world_.namespaces.look(one.record->netns);
  one.evidence.netns = sight ? *sight : Sight::unclear;
  if (!sight) add_trouble(one.evidence, sight.error());
  return one;
}

void Sweeper::hear_kubelet(std::vector<Case>& cases) {
  const Result<std::vector<PodDevices>> pods = world_.pods->list_pods();
  for (Case& one : cases) {
    if (!pods) add_trouble(one.evidence, pods.error());
    if (!pods || !one.record) continue;
    const bool succeeded = std::any_of(cases.begin(), cases.end(), [&](const Case& other) {
      return other.record && other.evidence.this_boot && other.evidence.netns == Sight::same &&
             other.record->container_id != one.record->container_id &&
             same_pod(other.record->pod, one.record->pod);
    });
    one.evidence.kubelet = kubelet_says(*one.record, *pods, succeeded);
  }
}

void Sweeper::hear_runtime(std::vector<Case>& cases) {
  const Result<std::vector<std::string>> ids = world_.sandboxes->list_sandboxes();
  for (Case& one : cases) {
    one.evidence.runtime = Witness::silent;
    if (!ids) add_trouble(one.evidence, ids.error());
    if (!ids || !one.record) continue;
    const bool there = std::find(ids->begin(), ids->end(), one.record->container_id) != ids->end();
    one.evidence.runtime = there ? Witness::has_it : Witness::lacks_it;
  }
}

// They are asked after all namespaces were looked at, and only if anything hangs on it.
void Sweeper::hear_witnesses(std::vector<Case>& cases) {
  const bool needed = std::any_of(cases.begin(), cases.end(), [](const Case& one) {
    return one.record && one.evidence.this_boot && one.evidence.netns != Sight::same;
  });
  if (!needed) return;
  for (Case& one : cases) {
    if (world_.pods == nullptr) one.evidence.kubelet = Witness::none;
  }
  if (world_.pods != nullptr) hear_kubelet(cases);
  if (world_.sandboxes != nullptr) hear_runtime(cases);
}

void Sweeper::Round::come_again(Time when) {
  pass.come_again(std::chrono::ceil<Duration>(when - now));
}

bool Sweeper::judged_so_before(const Case& one, Round& round) {
  const auto [entry, first] =
      suspicions_.try_emplace(one.outcome.record, Suspicion{one.record->attempt, round.now});
  Suspicion& suspicion = entry->second;
  if (suspicion.attempt != one.record->attempt) suspicion = {one.record->attempt, round.now};
  if (suspicion.since + kAgreement <= round.now) return true;
  round.come_again(suspicion.since + kAgreement);
  return false;
}

// A DEL that failed may have ended it all the same: only addresses are owed then.
void Sweeper::release(Case& one) {
  const Status ended = world_.plugins.del(*one.record);
  const Result<node::Record> left = world_.records.read(one.outcome.record);
  one.outcome.released =
      left ? left->attempt != one.record->attempt : left.error().code() == Code::not_found;
  if (one.outcome.released) return;
  one.outcome.failure =
      !ended ? ended.error().text()
      : left && left->stage == node::Stage::keyed
          ? "its partitions' keys have not left the port yet"
          : "the plugin's DEL left the record: its device is not in the machine, or its "
            "configuration's stateDir is another one";
}

void Sweeper::collect(Case& one, const std::vector<node::RecordName>& names) {
  std::vector<node::RecordName> others = names;
  std::erase(others, one.outcome.record);
  const Status collected = world_.plugins.collect(one.outcome.record, others);
  const Result<node::Record> left = world_.records.read(one.outcome.record);
  one.outcome.released = !left && left.error().code() == Code::not_found;
  if (!collected) one.outcome.failure = collected.error().text();
}

// Whether its release has failed a moment ago. The next attempt of the same container begins anew.
bool Sweeper::is_paused(Case& one, Round& round) {
  const auto failure = failures_.find(one.outcome.record);
  if (failure == failures_.end()) return false;
  if (failure->second.attempt != (one.record ? one.record->attempt : "")) {
    failures_.erase(failure);
    return false;
  }
  if (failure->second.not_before <= round.now) return false;
  one.outcome.failure = failure->second.text;
  round.come_again(failure->second.not_before);
  return true;
}

void Sweeper::end(Case& one, const std::vector<node::RecordName>& names, Round& round) {
  const bool paused = is_paused(one, round);
  if (paused) return;
  if (one.record) release(one);
  if (!one.record) collect(one, names);
  if (one.outcome.released) {
    failures_.erase(one.outcome.record);
    return;
  }
  Failure& failure = failures_[one.outcome.record];
  failure.attempt = one.record ? one.record->attempt : "";
  failure.text = one.outcome.failure;
  failure.pause = std::min(std::max(kFirstPause, 2 * failure.pause),
                           std::max(kFirstPause, round.longest_pause));
  failure.not_before = round.now + failure.pause;
  round.come_again(failure.not_before);
}

void Sweeper::decide(Case& one, Round& round) {
  if (!one.record) {
    suspicions_.erase(one.outcome.record);
    one.over = attach::is_damaged(one.record);
    return;
  }
  const Judgement judgement =
      one.record->stage != node::Stage::attached ? kEnded : judge(one.evidence);
  one.outcome.verdict = judgement.verdict;
  one.outcome.reason = judgement.reason;
  if (judgement.verdict != Verdict::dead) {
    suspicions_.erase(one.outcome.record);
  } else if (judgement.again && !judged_so_before(one, round)) {
    one.outcome.failure = "it will be looked at once more before it is released";
  } else {
    one.over = true;
  }
}

void Sweeper::tell_verdicts(const std::vector<Case>& cases) const {
  if (!judged_) return;
  Pass pass;
  for (const Case& one : cases) pass.outcomes.push_back(one.outcome);
  judged_(pass);
}

void Sweeper::forget_all_but(const std::vector<node::RecordName>& names) {
  const auto is_gone = [&](const auto& entry) {
    return std::find(names.begin(), names.end(), entry.first) == names.end();
  };
  std::erase_if(suspicions_, is_gone);
  std::erase_if(failures_, is_gone);
}

// A record of before this pass counts as one, too: the plugin looks for itself.
void Sweeper::end_strays(const std::vector<node::RecordName>& names, Pass& pass) {
  if (world_.strays == nullptr) return;
  Result<std::vector<std::string>> strays = world_.strays->list_strays();
  if (strays) pass.strays = *strays;
  Status done = ok();
  if (!pass.strays.empty()) done = world_.plugins.remove_strays(names);
  if (!strays) done = std::move(strays).error();
  if (!done) pass.strays_failure = done.error().text();
}

Result<Pass> Sweeper::sweep(Time now, Duration longest_pause) {
  const std::vector<node::RecordName> names = TRY(world_.records.all());
  std::vector<Case> cases;
  for (const node::RecordName& name : names) {
    Case one = open(name);
    // Its DEL has just come.
    const bool gone = !one.record && one.record.error().code() == Code::not_found;
    if (!gone) cases.push_back(std::move(one));
  }
  forget_all_but(names);
  hear_witnesses(cases);
  Round round{now, longest_pause};
  for (Case& one : cases) decide(one, round);
  tell_verdicts(cases);
  for (Case& one : cases) {
    if (one.over) end(one, names, round);
    round.pass.outcomes.push_back(std::move(one.outcome));
  }
  end_strays(names, round.pass);
  addresses_.sweep(world_, now, longest_pause, round.pass);
  return round.pass;
}

}  // namespace ibpod::agent
