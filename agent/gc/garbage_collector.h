// A sweep: attachments whose pods are gone, and nobody said DEL. One pass over all records at a
// time; when to make one (at start, on change, on a timer) is the caller's.
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

// Judges every record (evidence.h) and ends what is dead. It never touches a live pod:
// - What is dead by the word of the kubelet or the runtime is so in two passes in a row, at least
//   kAgreement apart: either may just be starting, with half a list. Nothing of this outlasts the
//   process. Another boot, or a namespace that is gone where namespaces alone decide, needs no
//   second pass: neither comes back.
// - An ADD that is underway has a living namespace, in which its record is, and so it is live
//   before any kubelet or runtime has heard of its pod. Its namespace can go away under it: then
//   the ADD fails, and DEL and its own undo are one and the same release, made once, under the
//   device's lock.
// - The same container and interface can come again after a namespace that is gone (names that a
//   caller derives from the namespace's path). Such an ADD releases the old record itself and
//   writes its own; a DEL that we had begun for the old one means the old attempt, which it
//   compares under the device's lock, and passes the new one by. (IPAM knows no attempts: should
//   the new ADD get from its claim to its address between that DEL's reading of the record and its
//   call of IPAM, the address is given back too early.)
// - What could not be released is not tried again before a pause, twice as long each time. A DEL
//   that fails may have bound the device anew, and whoever looks at devices would have the next
//   pass begin at once: without a pause that has no end. end_pauses() is for what ends once.
// A record that cannot be read any more is left to the plugin's GC, which takes a device that is at
// home, in no pod. One that cannot be read for now, or is of a newer version, stays untouched.
class GarbageCollector {
 public:
  static constexpr Duration kConfirmationDelay{10'000};
  static constexpr Duration kFirstPause{5'000};

  // Told of the verdicts of each pass before anything is ended: what is dead or unknown is nobody's
  // from then on.
  using OnVerdicts = std::function<void(const GcRun&)>;

  explicit GarbageCollector(GcDeps deps, OnVerdicts on_verdicts = {})
      : deps_(std::move(deps)), on_verdicts_(std::move(on_verdicts)) {}

  // Goes on through failures: each is its outcome's. An error only where there is no list of
  // records: then nothing is known of any. Takes as long as the plugins do, one after the other.
  // `longest_pause`: after a release that failed.
  Result<GcRun> run(Deadline::Clock::time_point now, Duration longest_pause = Duration(60'000));

  // What has failed is tried again in the next pass, and after short pauses again: what was in the
  // way may have gone.
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
