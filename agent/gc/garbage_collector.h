// Garbage collection: releases attachments whose pods are gone and for which no DEL came. Makes one
// pass over all records at a time; the caller decides when (at start, on change, on a timer).
#pragma once

#include "agent/gc/address_releaser.h"
#include "agent/gc/gc_deps.h"
#include "agent/gc/gc_run.h"
#include "lib/base/clock.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::agent::gc {

// Evaluates every record (evidence.h) and releases dead attachments. It never touches a live pod:
// - If the kubelet or the runtime reports a pod dead, two passes in a row must agree, at least
//   kConfirmationDelay apart: either may have just started, with half a list. The count does not
//   outlast the process. Another boot needs no second pass, nor does a namespace that is gone if
//   namespaces alone decide: neither comes back.
// - An ADD that is underway has a living namespace, which its record names, and so it is live
//   before the kubelet or the runtime knows its pod. If its namespace goes away, the ADD fails;
//   DEL and the undo of the ADD are the same release, made once, under the device's lock.
// - The same container and interface can come again after its namespace is gone (a caller may
//   derive names from the namespace's path). Such an ADD releases the old record and writes its
//   own. A DEL that we began for the old record names the old attempt; it compares attempts under
//   the device's lock and leaves the new one alone. (IPAM knows no attempts: if the new ADD gets
//   its address between that DEL's reading of the record and its call of IPAM, IPAM takes the
//   address back too early.)
// - A failed release is not tried again before a pause, which doubles each time. A DEL that fails
//   may have bound the device again; that is a change of devices, which starts the next pass at
//   once. Without a pause this would not end. reset_pauses() ends all pauses once.
// A record that is damaged is left to the plugin's GC, which takes a device that is in no pod. A
// record that cannot be read for now, or has a newer version, stays untouched.
class GarbageCollector {
 public:
  static constexpr Duration kConfirmationDelay{10'000};
  static constexpr Duration kFirstPause{5'000};

  // Called with the verdicts of each pass before the first release: from then on no pod gets a
  // device of a dead or unknown attachment.
  using OnVerdicts = std::function<void(const GcRun&)>;

  explicit GarbageCollector(GcDeps deps, OnVerdicts on_verdicts = {})
      : deps_(std::move(deps)), on_verdicts_(std::move(on_verdicts)) {}

  // Goes on through failures: each is its outcome's. An error only where there is no list of
  // records: then nothing is known of any. Takes as long as the plugins do, one after the other.
  // `longest_pause`: after a release that failed.
  Result<GcRun> run(Deadline::Clock::time_point now, Duration longest_pause = Duration(60'000));

  // Failed releases are tried again in the next run, and after short pauses again: the obstacle may
  // have gone.
  void reset_pauses() {
    failures_.clear();
    addresses_.reset_pauses();
  }

 private:
  struct PendingConfirmation {
    std::string attempt;
    Deadline::Clock::time_point since;
  };
  // A release that has failed.
  struct Failure {
    std::string attempt;  // empty: of a record that cannot be read
    std::string text;
    Duration pause{};
    Deadline::Clock::time_point not_before;
  };
  // This pass.
  struct RunState {
    Deadline::Clock::time_point now;
    Duration longest_pause;
    GcRun gc_run = {};

    void request_rerun_at(Deadline::Clock::time_point when);
  };
  // A record in a pass.
  struct Candidate {
    Outcome outcome;
    Result<node::Record> record;
    Evidence evidence;
    bool release_now = false;  // it is to be ended in this pass
  };

  Candidate examine(const node::RecordName& name);
  void query_sources(std::vector<Candidate>& candidates);
  void query_kubelet(std::vector<Candidate>& candidates);
  void query_runtime(std::vector<Candidate>& candidates);
  void decide(Candidate& one, RunState& run_state);
  void publish_verdicts(const std::vector<Candidate>& candidates) const;
  bool is_confirmed(const Candidate& one, RunState& run_state);
  void end_attachment(Candidate& one, const std::vector<node::RecordName>& names,
                      RunState& run_state);
  bool is_paused(Candidate& one, RunState& run_state);
  void release(Candidate& one);
  void release_damaged(Candidate& one, const std::vector<node::RecordName>& names);
  void remove_strays(const std::vector<node::RecordName>& names, GcRun& gc_run);
  void retain_only(const std::vector<node::RecordName>& names);

  GcDeps deps_;
  const OnVerdicts on_verdicts_;
  std::map<node::RecordName, PendingConfirmation> pending_confirmations_;
  std::map<node::RecordName, Failure> failures_;
  AddressReleaser addresses_;
};

}  // namespace ibpod::agent::gc
