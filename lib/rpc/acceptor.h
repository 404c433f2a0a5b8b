// Acceptor: the thread that takes connections from a listening socket, so that gRPC does not: its
// own listener ends for good at the first error, such as too many open files.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/fd.h"
#include "lib/base/result.h"
#include "lib/base/wake.h"

#include <functional>
#include <memory>
#include <optional>
#include <thread>

namespace ibpod::rpc {

class Acceptor {
 public:
  // Takes a connection that waits. cannot: one waits, and there are no descriptors, no memory or no
  // place for it: it stays in the socket's queue for a while.
  enum class AcceptResult { accepted, none_waiting, out_of_resources };
  using Take = std::function<AcceptResult()>;

  // The other work of the thread.
  struct Next {
    Duration pause;                   // for which nothing need be looked at
    std::optional<Duration> at_most;  // after which it must be, though nothing tells so
  };
  struct Watch {
    int activity;  // a descriptor: readable when there is something to look at
    std::function<Next()> look;
  };

  // Calls `take` on its thread as long as `listening` is readable, which it owns no more than what
  // `take` and `watch` use: all outlive the Acceptor. However many connections wait, it looks at
  // what it has to look at between some of them.
  static Result<std::unique_ptr<Acceptor>> start(int listening, Take take,
                                                 Watch watch = {-1, nullptr});
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
  Acceptor(Acceptor&&) = delete;
  Acceptor& operator=(Acceptor&&) = delete;
  // Returns when the thread has ended.
  ~Acceptor();

 private:
  Acceptor(int listening, Take take, Watch watch, Wake wake);
  void run();
  bool wait();
  void take_some();
  void look();
  int poll_timeout() const;

  const int listening_;
  const Take take_;
  const Watch watch_;
  Wake stopping_;
  Deadline takes_ = Deadline::in(Duration(0));  // nothing is taken before
  Deadline looks_ = Deadline::in(Duration(0));  // nor looked at
  std::optional<Deadline> must_look_;
  std::thread thread_;
};

// A connection that gRPC is given: it closes the descriptor, which is therefore one of its own.
// Negative where the process has run out of descriptors.
int given_away(const Fd& connection);

}  // namespace ibpod::rpc
