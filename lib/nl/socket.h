// Socket: a netlink socket, and with it one network namespace. It keeps talking to the namespace it
// was opened in, whatever its thread does later (docs/kernel-notes.md#sockets-and-namespaces).
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"

#include <cstdint>
#include <functional>
#include <span>

namespace ibpod::nl {

enum class Family { route, rdma };

using Bytes = std::span<const std::byte>;

class Message;

class Socket {
 public:
  // In the calling thread's network namespace.
  static Result<Socket> open(Family family);
  // In the namespace behind `netns`.
  static Result<Socket> open_in(const Fd& netns, Family family);

  // Sends a request and waits for its acknowledgement. A refusal of the kernel keeps its errno and
  // its own words: "WHAT: kernel: mtu less than device minimum: Invalid argument". `what` is the
  // message's own description.
  Status send(const Message& message);
  // Sends a request and hands each reply's payload (behind the netlink header) to `each`, whose
  // error ends it. `each` runs when all replies are there: a dump that the kernel says was
  // interrupted is asked again first, so it never sees an entry twice. unavailable where no answer
  // comes in 20 s.
  Status ask(const Message& message, const std::function<Status(Bytes)>& each);

  // Subscribes to changes of links. From then on the socket is for waiting only.
  Status subscribe_to_links();
  // … to the addresses of links, of both families.
  Status subscribe_to_addresses();
  // … to RDMA devices that come, go and change their namespace (a socket of that family). Kernels
  // before 6.12 take it and say nothing.
  Status subscribe_to_rdma_devices();
  int fd() const { return fd_.get(); }
  // Throws away what has arrived.
  void discard_pending();
  // Hands over each datagram that has arrived. False: some were lost (news.h reads them).
  bool take(const std::function<void(Bytes)>& each);

 private:
  explicit Socket(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
  uint32_t sequence_ = 0;
};

}  // namespace ibpod::nl
