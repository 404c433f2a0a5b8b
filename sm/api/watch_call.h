// WatchCall: one client's watch of bindings.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/api/call_limiter.h"
#include "sm/api/watch_bytes.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

namespace ibpod::sm::api {

// The queue of changes between the controller, which does not wait, and gRPC, which writes as fast
// as the watcher reads. Thread-safe; lives as long as either of the two. Changes wait as bytes, as
// messages are several times larger.
class WatchCall {
 public:
  using Reactor = grpc::ServerWriteReactor<grpc::ByteBuffer>;
  // Sends a change to the watcher; false if the watch has ended.
  using OnChange = std::function<bool(const fabricapi::BindingChange&)>;
  using OnBegun = fabricapi::Done<std::shared_ptr<fabricapi::Watch>>;

  // Returns a reactor that belongs to gRPC, which deletes it.
  static Reactor* refuse(const Error& error);
  // `start` is called at once: it starts the watch with the two callbacks, or returns an error.
  static Reactor* begin(std::shared_ptr<CallLimiter::Slot> slot, std::shared_ptr<WatchBytes> all,
                        const std::function<Status(OnChange, OnBegun)>& start);

  WatchCall(Reactor& reactor, std::shared_ptr<CallLimiter::Slot> slot,
            std::shared_ptr<WatchBytes> all)
      : reactor_(&reactor), slot_(std::move(slot)), all_(std::move(all)) {}

  // False if the watch has ended.
  bool tell(const fabricapi::BindingChange& change);
  // `watch`: the handle of the watch, or the error.
  void begun(Result<std::shared_ptr<fabricapi::Watch>> watch);
  void written(bool well);
  void end(const grpc::Status& status);
  // Call it when gRPC is done; the watch ends when the returned handle is dropped.
  std::shared_ptr<fabricapi::Watch> over();

 private:
  struct Change {
    grpc::ByteBuffer message;
    WatchBytes::Reservation reservation;
  };
  void end_locked(const grpc::Status& status);

  std::mutex mutex_;
  Reactor* reactor_;  // null once it is finished
  std::shared_ptr<CallLimiter::Slot> slot_;
  const std::shared_ptr<WatchBytes> all_;
  std::shared_ptr<fabricapi::Watch> watch_;
  std::deque<Change> waiting_;  // the first one is being written if `writing_`
  size_t first_ = 0;            // the number of these from the start of the watch
  size_t bytes_ = 0;            // of the others
  bool begun_ = false;
  bool writing_ = false;
  bool over_ = false;
};

}  // namespace ibpod::sm::api
