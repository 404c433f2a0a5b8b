// WatchCall: one client that watches bindings.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/api/call_limiter.h"
#include "sm/api/watch_bytes.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

namespace ibpod::sm::api {

// The changes on their way to a watcher, between the controller, which does not wait, and gRPC,
// which writes as fast as the watcher reads. From any thread; lives as long as either of the two.
// They wait as bytes: as messages they would be several times as large.
class WatchCall {
 public:
  using Reactor = grpc::ServerWriteReactor<grpc::ByteBuffer>;
  // The watcher is told a change; false where it wants nothing more.
  using OnChange = std::function<bool(const fabricapi::BindingChange&)>;
  using OnBegun = fabricapi::Done<std::shared_ptr<fabricapi::Watch>>;

  // The reactor is gRPC's from here on and goes when gRPC is done with it.
  static Reactor* refuse(const Error& error);
  // `start` is called at once: it has the watch begun with these two, or says why it is not.
  static Reactor* begin(std::shared_ptr<CallLimiter::Slot> slot, std::shared_ptr<WatchBytes> all,
                        const std::function<Status(OnChange, OnBegun)>& start);

  WatchCall(Reactor& reactor, std::shared_ptr<CallLimiter::Slot> slot,
            std::shared_ptr<WatchBytes> all)
      : reactor_(&reactor), slot_(std::move(slot)), all_(std::move(all)) {}

  // False once the watch has ended: it wants nothing more.
  bool tell(const fabricapi::BindingChange& change);
  // `watch`: the handle of the watch, or why there is none.
  void begun(Result<std::shared_ptr<fabricapi::Watch>> watch);
  void written(bool well);
  void end(const grpc::Status& status);
  // gRPC is done with it: the watch ends by what this returns.
  std::shared_ptr<fabricapi::Watch> over();

 private:
  struct Change {
    grpc::ByteBuffer message;
    WatchBytes::Reservation reservation;
  };
  void end_locked(const grpc::Status& status);

  std::mutex mutex_;
  Reactor* reactor_;  // until it is finished
  std::shared_ptr<CallLimiter::Slot> slot_;
  const std::shared_ptr<WatchBytes> all_;
  std::shared_ptr<fabricapi::Watch> watch_;
  std::deque<Change> waiting_;  // the first is being written where `writing_`
  size_t first_ = 0;            // of those how many are of what there was at the beginning
  size_t bytes_ = 0;            // of the others
  bool begun_ = false;
  bool writing_ = false;
  bool over_ = false;
};

}  // namespace ibpod::sm::api
