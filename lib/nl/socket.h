// Socket: a netlink socket of one network namespace, the one it was opened in, even if its thread
// moves later (docs/kernel-notes.md#sockets-and-namespaces).
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"
#include "lib/nl/message.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ibpod::nl {

enum class Family { route, rdma };

using Bytes = std::span<const std::byte>;

class Socket {
 public:
  // Opens it in the calling thread's network namespace.
  static Result<Socket> open(Family family);
  // Opens it in the namespace `netns`.
  static Result<Socket> open_in(const Fd& netns, Family family);

  // Sends a request and waits for its acknowledgement. A refusal keeps the kernel's errno and text:
  // "WHAT: kernel: mtu less than device minimum: Invalid argument". `what` is the message's
  // description.
  Status send(const Message& message);
  // Sends a request and passes each reply's payload (after the netlink header) to `each`, whose
  // error ends it. An interrupted dump is repeated first, so `each` never sees an entry twice.
  // unavailable without an answer in 20 s.
  Status ask(const Message& message, const std::function<Status(Bytes)>& each);

  // Subscribes to changes of links. From then on the socket only waits for notifications.
  Status subscribe_to_links();
  // … to addresses of links, of both families.
  Status subscribe_to_addresses();
  // … to RDMA devices that appear, go or change their namespace (a socket of that family). Kernels
  // before 6.12 accept it and send nothing.
  Status subscribe_to_rdma_devices();
  int fd() const { return fd_.get(); }
  // Discards what has arrived.
  void discard_pending();
  // Passes each datagram that has arrived to `each`. False if some were lost (notifications.h
  // parses them).
  bool take(const std::function<void(Bytes)>& each);

 private:
  explicit Socket(Fd fd) : fd_(std::move(fd)) {}
  Status join(int group);
  Fd fd_;
  uint32_t sequence_ = 0;
  bool joined_ = false;
};

// Sends a request and parses all its replies with `parse`.
template <typename Value>
Result<std::vector<Value>> dump(Socket& socket, const Message& message,
                                const std::function<Result<Value>(Bytes)>& parse) {
  std::vector<Value> values;
  const Status asked = socket.ask(message, [&](Bytes payload) -> Status {
    Value value = TRY(parse(payload));
    values.push_back(std::move(value));
    return ok();
  });
  if (!asked) return asked.error();
  return values;
}

// The same for a request with one reply.
template <typename Value>
Result<Value> get_one(Socket& socket, const Message& message,
                      const std::function<Result<Value>(Bytes)>& parse) {
  std::vector<Value> values = TRY(dump(socket, message, parse));
  if (values.empty())
    return Error(Code::internal, message.what() + ": the kernel returned nothing");
  return std::move(values.front());
}

// Discards all datagrams that have arrived. Lost ones (ENOBUFS) count as arrived.
void discard_datagrams(const Fd& socket);

// Passes all datagrams that have arrived to `each`. False if some were lost or are longer than any
// that the kernel sends unasked, so that their content is unknown.
bool take_datagrams(const Fd& socket, const std::function<void(Bytes)>& each);

}  // namespace ibpod::nl
