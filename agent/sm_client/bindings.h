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

namespace ibpod::agent {

// From any thread. Between a Bind and an Unbind of one attachment the order is kept: what is asked
// for last is asked of the service when the answer to what was asked before has come.
class Bindings {
 public:
  struct Pace {
    Duration slice{5'000};   // one question waits this long for its answer
    Duration glance{2'000};  // and one that has still to be granted a GUID
    Duration first{250};     // the first pause after one that came to nothing
    Duration most{10'000};
  };
  // `client` outlives it.
  explicit Bindings(fabricapi::Client& client) : Bindings(client, Pace()) {}
  Bindings(fabricapi::Client& client, Pace pace) : client_(client), pace_(pace) {}
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
  Result<fabric::Binding> now(const fabric::Attachment& attachment) const;

  // Whether a Bind of it has been begun, and no release of it answered since.
  bool may_have_bound(const fabric::Attachment& attachment) const;
  // Whether any is on its way.
  bool underway() const;

  // A moment, so that what a Sync tells does not count where something has moved since it was
  // asked.
  using Moment = uint64_t;
  Moment moment() const;
  // What a Sync has told.
  void seen(const fabric::Binding& binding, Moment asked);
  // The service has lost it: what was verified is asked for again.
  void bind_anew(const fabricapi::BindRequest& request, Moment asked);
  // Nobody asks for the others any more: what is still on its way for one is taken back.
  void forget_all_but(const std::set<fabric::Attachment>& attachments, Moment asked);

 private:
  struct Course {
    std::optional<fabricapi::BindRequest> wanted;  // nothing: it is to be released
    bool may_be_bound = false;                     // a Bind was begun, and has not been taken back
    uint64_t turn = 0;                             // grows with each change of what is wanted
    fabric::Binding last;
    std::optional<Error> error;  // of the last question, instead
    Moment moved = 0;            // when anything of this was another last
    bool running = false;
    size_t waiting = 0;
    std::thread thread;
  };

  // Under the lock.
  void begin(const fabric::Attachment& attachment, std::optional<fabricapi::BindRequest> wanted);
  bool has_moved(const Course& course, Moment since) const {
    return course.running || course.waiting > 0 || course.moved > since;
  }
  void run(const fabric::Attachment& attachment);
  Result<fabric::Binding> ask(const fabric::Attachment& attachment,
                              const std::optional<fabricapi::BindRequest>& wanted,
                              Deadline deadline);
  static bool is_granted(const Course& course);
  static bool is_done(const Course& course);
  static Result<fabric::Binding> answer(const Course& course);

  fabricapi::Client& client_;
  const Pace pace_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<fabric::Attachment, Course> courses_;  // this and below: guarded by mutex_
  Moment moment_ = 0;
  bool stopping_ = false;
};

}  // namespace ibpod::agent
