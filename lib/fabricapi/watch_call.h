// WatchCall: one client that watches bindings.
#pragma once

#include "lib/fabricapi/call_limiter.h"
#include "lib/fabricapi/fabric.h"
#include "lib/fabricapi/watch_bytes.h"

#include <deque>
#include <memory>
#include <mutex>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

namespace ibpod::fabricapi {

// The changes on their way to a watcher, between the Fabric, which does not wait, and gRPC, which
// writes as fast as the watcher reads. From any thread; lives as long as either of the two. They
// wait as bytes: as messages they would be several times as large.
class WatchCall {
 public:
  using Reactor = grpc::ServerWriteReactor<grpc::ByteBuffer>;

  // The reactor is gRPC's from here on and goes when gRPC is done with it.
  static Reactor* refuse(const Error& error);
  static Reactor* begin(Fabric& fabric, const Caller& caller, BindingFilter filter,
                        std::shared_ptr<CallLimiter::Slot> slot, std::shared_ptr<WatchBytes> all);

  WatchCall(Reactor& reactor, std::shared_ptr<CallLimiter::Slot> slot,
            std::shared_ptr<WatchBytes> all)
      : reactor_(&reactor), slot_(std::move(slot)), all_(std::move(all)) {}

  // False once the watch has ended: it wants nothing more.
  bool tell(const BindingChange& change);
  // `watch`: the Fabric's handle of the watch, or why there is none.
  void begun(Result<std::shared_ptr<Fabric::Watch>> watch);
  void written(bool well);
  void end(const grpc::Status& status);
  // gRPC is done with it: the Fabric is, too, by what this returns.
  std::shared_ptr<Fabric::Watch> over();

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
  std::shared_ptr<Fabric::Watch> watch_;
  std::deque<Change> waiting_;  // the first is being written where `writing_`
  size_t first_ = 0;            // of those how many are of what there was at the beginning
  size_t bytes_ = 0;            // of the others
  bool begun_ = false;
  bool writing_ = false;
  bool over_ = false;
};

}  // namespace ibpod::fabricapi
