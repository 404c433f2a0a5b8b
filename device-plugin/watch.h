// Watch: waits until the inventory may have changed. Of an event it takes what it is about and
// nothing else: who is woken looks there, so a foreign or a repeated event does no harm, and behind
// one that was lost everything is looked at.
#pragma once

#include "device-plugin/change_set.h"
#include "lib/base/clock.h"
#include "lib/base/fd.h"
#include "lib/base/tree_watch.h"
#include "lib/nl/socket.h"
#include "lib/nl/uevent.h"
#include "lib/node/records.h"

#include <optional>
#include <utility>

namespace ibpod::device_plugin {

enum class WakeReason {
  changed,    // something has happened
  due,        // it is time to look at what has no event: ports
  deadline,   // nothing of that until the deadline
  cancelled,  // by cancel(), now or before
};

// For one thread, cancel() aside.
class Watch {
 public:
  // Watches the calling thread's network namespace, which has to be the host's: kernel uevents,
  // links and addresses, RDMA devices (if the kernel reports them: 6.12 or later) and the records
  // of attachments, whose folder is made. P_Key tables, the RDMA namespace mode and, without
  // ib_ipoib, the state of ports change without any event: they are `due` whenever `interval` has
  // passed.
  static Result<Watch> open(const node::Records& records,
                            Duration interval = std::chrono::minutes(1));

  // A burst of events wakes once: it returns when nothing more has come for 5 ms, and 25 ms after
  // the first event at the latest.
  Result<WakeReason> wait(Deadline deadline);
  // The parts that may have changed since this was called last.
  ChangeSet take_changes() { return std::exchange(changes_, {}); }
  // From any thread, and from a signal handler: ends this wait and all later ones.
  void cancel() const;

 private:
  Watch(nl::Uevents uevents, nl::Socket links, std::optional<nl::Socket> rdma, TreeWatch records,
        Fd cancelled, Duration interval);
  Result<bool> poll(Deadline deadline);
  Status drain();
  Status drain_burst();
  bool is_cancelled() const;

  nl::Uevents uevents_;
  nl::Socket links_;
  std::optional<nl::Socket> rdma_;  // nothing: this kernel has no RDMA subsystem yet
  TreeWatch records_;
  Fd cancelled_;
  Duration interval_;
  ChangeSet changes_;
  Deadline due_;
};

}  // namespace ibpod::device_plugin
