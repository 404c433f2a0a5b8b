// The channel of a real port, over libibumad, with one thread that receives. If the port goes away
// (its driver is loaded again, its adapter is taken out) it is opened again when it is back; until
// then nothing can be sent.
#pragma once

#include "lib/base/wake.h"
#include "lib/mad/channel.h"
#include "lib/mad/umad_port.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

namespace ibpod::mad {

class UmadChannel : public Channel {
 public:
  // Beside it a subnet manager may use the port, but no other channel of this process, where the
  // port is a simulated one.
  static Result<std::unique_ptr<Channel>> open(const LocalPort& port);

  UmadChannel(const UmadChannel&) = delete;
  UmadChannel& operator=(const UmadChannel&) = delete;
  ~UmadChannel() override;

  void receive(Receiver receiver) override;
  // A question to our own node is answered by the kernel before it is sent; where the node is
  // silent to it, it cannot be sent.
  Status send(const Mad& mad, const Route& route, Duration wanted) override;

 private:
  using Port = std::shared_ptr<const UmadPort>;
  UmadChannel(ib::Guid guid, Port port, Wake wake)
      : guid_(guid), port_(std::move(port)), wake_(std::move(wake)) {}
  Port port() const;
  void run();
  void take_from(const UmadPort& port);
  bool wait(const UmadPort& port) const;
  void reopen();

  const ib::Guid guid_;
  mutable std::mutex mutex_;
  Port port_;  // guarded by mutex_; none while it is gone
  Wake wake_;
  Receiver receiver_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace ibpod::mad
