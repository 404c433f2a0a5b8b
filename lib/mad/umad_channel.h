// The channel of a real port, over libibumad: one descriptor for packets of both kinds of route,
// one thread that receives. The kernel pairs answers with what was sent and drops the rest.
#pragma once

#include "lib/base/wake.h"
#include "lib/mad/channel.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace ibpod::mad {

class UmadChannel : public Channel {
 public:
  // Of the port (1, 2 …) of an RDMA device ("mlx5_0"). Beside it a subnet manager may use the port,
  // but no other channel of this process, where the port is a simulated one. An empty name takes
  // the first device, and port 0 its first active port, or its first one.
  static Result<std::unique_ptr<Channel>> open(const std::string& device, uint8_t port);

  UmadChannel(const UmadChannel&) = delete;
  UmadChannel& operator=(const UmadChannel&) = delete;
  ~UmadChannel() override;

  void receive(Receiver receiver) override;
  // A question to our own node is answered by the kernel before it is sent; where the node is
  // silent to it, it cannot be sent.
  Status send(const Mad& mad, const Route& route, Duration wanted) override;

 private:
  struct Agents {
    int by_lid = -1;
    int directed = -1;
  };
  UmadChannel(int port, Wake wake) : port_(port), wake_(std::move(wake)) {}
  static Result<int> registered(int port, uint8_t management_class);
  void run();
  bool wait() const;
  enum class Taken { one, none, never };
  Taken take(std::vector<std::byte>& buffer);

  int port_;  // libibumad's name for the open port
  Wake wake_;
  Agents agents_;
  Receiver receiver_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace ibpod::mad
