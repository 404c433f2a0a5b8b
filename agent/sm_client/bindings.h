// Bindings: the bindings of this node that are on their way, each with a thread that asks the SM
// service again and again until it is as it should be.
#pragma once

#include "lib/base/back_off.h"
#include "lib/base/clock.h"
#include "lib/fabricapi/client.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace ibpod::agent::sm_client {

// From any thread. Between a Bind and an Unbind of one attachment the order is kept: what is asked
// for last is asked of the service when the answer to what was asked before has come.
class Bindings {
 public:
  struct Timing {
    Duration call_timeout{5'000};   // one question waits this long for its answer
    Duration grant_timeout{2'000};  // and one that has still to be granted a GUID
    Duration first_pause{250};      // the first pause after one that came to nothing
    Duration max_pause{10'000};
  };
  // `client` outlives it.
  explicit Bindings(fabricapi::Client& client) : Bindings(client, Timing()) {}
  Bindings(fabricapi::Client& client, Timing timing) : client_(client), timing_(timing) {}
  // Waits for questions that are underway.
  ~Bindings();
  Bindings(const Bindings&) = delete;
  Bindings& operator=(const Bindings&) = delete;

  // Begins, and does not wait. What is verified as asked for stays so.
  void bind(const fabricapi::BindRequest& request);
  // The same of one that is to end.
  void unbind(const fabric::Attachment& attachment);

  // Waits until it is verified or released, as was asked for last, or only until the GUID that it
  // has chosen is granted, or until the deadline: how far it is. An error where the service refuses
  // it, or could not be asked.
  enum class Until { granted, done };
  Result<fabric::Binding> await(const fabric::Attachment& attachment, Until until,
                                Deadline deadline);
  // How far it is, without waiting.
  Result<fabric::Binding> current(const fabric::Attachment& attachment) const;

  // True if a Bind of it has been begun, and no release of it answered since.
  bool has_started_bind(const fabric::Attachment& attachment) const;
  // True if any is on its way.
  bool has_running() const;

  // A moment, so that what a Sync tells does not count where something has moved since it was
  // asked.
  using Revision = uint64_t;
  Revision revision() const;
  // Updates a binding from the answer to a Sync.
  void update_from_sync(const fabric::Binding& binding, Revision asked);
  // The service has lost it: what was verified is asked for again.
  void rebind(const fabricapi::BindRequest& request, Revision asked);
  // Drops all other attachments, and takes back a Bind that is still underway for one.
  void retain_only(const std::set<fabric::Attachment>& attachments, Revision asked);

 private:
  struct PendingBinding {
    std::optional<fabricapi::BindRequest> request;  // nothing: it is to be released
    bool bind_started = false;                      // a Bind was begun, and has not been taken back
    uint64_t generation = 0;                        // grows with each change of what is wanted
    fabric::Binding last_known;
    std::optional<Error> error;  // of the last question, instead
    Revision changed_at = 0;     // when anything of this was another last
    bool running = false;
    size_t waiters = 0;
    std::thread thread;
  };

  // Under the lock.
  void begin(const fabric::Attachment& attachment, std::optional<fabricapi::BindRequest> wanted);
  bool has_changed(const PendingBinding& pending, Revision since) const {
    return pending.running || pending.waiters > 0 || pending.changed_at > since;
  }
  void run(const fabric::Attachment& attachment);
  Result<fabric::Binding> send(const fabric::Attachment& attachment,
                               const std::optional<fabricapi::BindRequest>& wanted,
                               Deadline deadline);
  static bool is_granted(const PendingBinding& pending);
  static bool is_done(const PendingBinding& pending);
  static Result<fabric::Binding> result_of(const PendingBinding& pending);

  fabricapi::Client& client_;
  const Timing timing_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<fabric::Attachment, PendingBinding> pending_;  // this and below: guarded by mutex_
  Revision revision_ = 0;
  bool stopping_ = false;
};

}  // namespace ibpod::agent::sm_client
