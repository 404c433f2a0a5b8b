#include "lib/nl/socket.h"

#include "lib/base/clock.h"
#include "lib/base/run_on_thread.h"
#include "lib/nl/message.h"
#include "lib/nl/replies.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

namespace ibpod::nl {
namespace {

// How long an answer may take. The kernel works on most requests inside sendmsg() already, where
// nothing bounds the wait for its locks; this one is for an answer that never comes.
constexpr Duration kReplyTimeout{20000};
// How often a list that changed while it was read is asked for again.
constexpr int kAttempts = 8;

// Room for one datagram: a link with the settings of 127 VFs has some 30 KiB.
constexpr size_t kRoom = 64 << 10;

using Buffer = std::vector<std::byte>;

int protocol(Family family) { return family == Family::route ? NETLINK_ROUTE : NETLINK_RDMA; }

Status set_option(const Fd& fd, int level, int option, int value) {
  TRY(sys("setsockopt on a netlink socket",
          [&] { return ::setsockopt(fd.get(), level, option, &value, sizeof value); }));
  return ok();
}

Status set_options(const Fd& fd) {
  TRY(set_option(fd, SOL_NETLINK, NETLINK_EXT_ACK, 1));  // refusals in words
  const timeval timeout{kReplyTimeout.count() / 1000, 0};
  TRY(sys("setsockopt on a netlink socket", [&] {
    return ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  }));
  return ok();
}

// Sockets are made and read here and not by libnl, whose error numbers fold many errnos into one.
// The kernel binds one when it sends first.
Result<Fd> open_fd(Family family) {
  const Result<int> opened = sys("open a netlink socket", [&] {
    return ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol(family));
  });
  if (!opened && family == Family::rdma && opened.error().error_number() == EPROTONOSUPPORT) {
    return Error(
        Code::unsupported,
        "this node's kernel has no RDMA subsystem: load ib_core, and the driver of the HCA "
        "(mlx5_ib)");
  }
  return Fd(TRY(opened));
}

Error explain(Error error, const std::string& what) {
  if (error.error_number() != EAGAIN) return std::move(error).during(what);
  return Error(Code::unavailable, what + ": no answer from the kernel");
}

// Takes the answers to one request. The kernel makes the next part of a list while it hands
// out the one before, so that one call fetches a whole list. Only the first datagram can be long: a
// link with the settings of its VFs. The parts of a list have 32 KiB at most (netlink_dump()).
class Inbox {
 public:
  // Waits for one datagram, and takes what follows it. Those of other senders than the kernel are
  // left out: any process may write to the socket.
  Result<std::span<const Bytes>> receive(const Fd& fd) {
    prepare();
    const int count = TRY(sys("receive", [&] {
      return ::recvmmsg(fd.get(), headers_.data(), kMost, MSG_WAITFORONE, nullptr);
    }));
    size_t kept = 0;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      if (senders_[i].nl_pid != 0) continue;
      if ((headers_[i].msg_hdr.msg_flags & MSG_TRUNC) != 0)
        return Error(Code::unsupported, "the kernel's answer is longer than " +
                                            std::to_string(parts_[i].iov_len) + " bytes");
      datagrams_[kept++] =
          Bytes(static_cast<const std::byte*>(parts_[i].iov_base), headers_[i].msg_len);
    }
    return std::span<const Bytes>(datagrams_).first(kept);
  }

 private:
  static constexpr unsigned kMost = 32;
  static constexpr size_t kFirst = 256 << 10, kOther = 32 << 10;

  void prepare() {
    for (size_t i = 0; i < kMost; ++i) {
      const size_t begin = i == 0 ? 0 : kFirst + (i - 1) * kOther;
      parts_[i] = {room_.get() + begin, i == 0 ? kFirst : kOther};
      headers_[i] = {};
      headers_[i].msg_hdr.msg_name = &senders_[i];
      headers_[i].msg_hdr.msg_namelen = sizeof senders_[i];
      headers_[i].msg_hdr.msg_iov = &parts_[i];
      headers_[i].msg_hdr.msg_iovlen = 1;
    }
  }

  // Not initialized: only what arrives takes memory.
  std::unique_ptr<std::byte[]> room_{new std::byte[kFirst + (kMost - 1) * kOther]};
  std::array<iovec, kMost> parts_{};
  std::array<sockaddr_nl, kMost> senders_{};
  std::array<mmsghdr, kMost> headers_{};
  std::array<Bytes, kMost> datagrams_{};
};

// One for all sockets of a thread: making it costs two calls.
Inbox& inbox() {
  thread_local Inbox own;
  return own;
}

// Sends the request under a sequence number, asking for an acknowledgement.
Status transmit(const Fd& fd, const Message& message, uint32_t sequence) {
  const std::span<const std::byte> encoded = message.encoded();
  Buffer request(encoded.begin(), encoded.end());
  nlmsghdr header{};
  std::memcpy(&header, request.data(), sizeof header);
  header.nlmsg_seq = sequence;
  header.nlmsg_flags |= NLM_F_ACK;
  std::memcpy(request.data(), &header, sizeof header);
  TRY(sys("send", [&] { return ::send(fd.get(), request.data(), request.size(), 0); }));
  return ok();
}

// One request and all that is said to it.
Result<Replies> exchange(const Fd& fd, const Message& message, uint32_t sequence) {
  const Status sent = transmit(fd, message, sequence);
  if (!sent) return explain(sent.error(), message.what());
  Replies replies;
  while (true) {
    const Result<std::span<const Bytes>> arrived = inbox().receive(fd);
    if (!arrived) return explain(arrived.error(), message.what());
    for (const Bytes datagram : *arrived) {
      std::optional<Status> said = take_replies(datagram, sequence, message.what(), replies);
      if (said && !*said) return std::move(*said).error();
      if (said) return replies;
    }
  }
}

// True if asking again may help: the list changed while it was read, or the kernel could not queue
// its answer.
bool is_retryable(const Result<Replies>& replies) {
  return replies ? replies->interrupted : replies.error().error_number() == ENOBUFS;
}

}  // namespace

Result<Socket> Socket::open(Family family) {
  Fd fd = TRY(open_fd(family));
  TRY(set_options(fd));
  return Socket(std::move(fd));
}

Result<Socket> Socket::open_in(const Fd& netns, Family family) {
  Result<Socket> socket = Error(Code::internal, "not opened");
  TRY(run_in_netns(netns, "enter a network namespace", [&] {
    socket = open(family);
    return ok();
  }));
  return socket;
}

Status Socket::send(const Message& message) {
  if (!message.complete())
    return Error(Code::invalid, message.what() + ": the request is too long");
  TRY(exchange(fd_, message, ++sequence_));
  return ok();
}

Status Socket::ask(const Message& message, const std::function<Status(Bytes)>& each) {
  if (!message.complete())
    return Error(Code::invalid, message.what() + ": the request is too long");
  Result<Replies> replies = exchange(fd_, message, ++sequence_);
  for (int i = 1; i < kAttempts && is_retryable(replies); ++i) {
    replies = exchange(fd_, message, ++sequence_);
  }
  if (!replies) return std::move(replies).error();
  if (replies->interrupted) {
    return Error(Code::unavailable, message.what() + ": the list keeps changing while it is read");
  }
  for (const Buffer& payload : replies->payloads) TRY(each(payload).during(message.what()));
  return ok();
}

// The kernel tells nothing to a socket without a port number, which the first request gives it,
// too.
Status Socket::join(int group) {
  sockaddr_nl own{};
  own.nl_family = AF_NETLINK;
  if (sequence_ == 0 && !joined_) {
    TRY(sys("bind a netlink socket", [&] {
      return ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own);
    }));
  }
  joined_ = true;
  return set_option(fd_, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group);
}

Status Socket::subscribe_to_links() { return join(RTNLGRP_LINK); }

Status Socket::subscribe_to_addresses() {
  TRY(join(RTNLGRP_IPV4_IFADDR));
  return join(RTNLGRP_IPV6_IFADDR);
}

Status Socket::subscribe_to_rdma_devices() {
  // RDMA_NL_GROUP_NOTIFY of Linux 6.12's uapi/rdma/rdma_netlink.h, which older headers lack.
  constexpr int kNotify = 4;
  return join(kNotify);
}

void Socket::discard_pending() { discard_datagrams(fd_); }

bool Socket::take(const std::function<void(Bytes)>& each) { return take_datagrams(fd_, each); }

void discard_datagrams(const Fd& socket) {
  std::byte byte{};
  while (::recv(socket.get(), &byte, sizeof byte, MSG_DONTWAIT) >= 0 || errno == EINTR ||
         errno == ENOBUFS) {
  }
}

bool take_datagrams(const Fd& socket, const std::function<void(Bytes)>& each) {
  std::vector<std::byte> room(kRoom);
  bool complete = true;
  while (true) {
    const ssize_t size = ::recv(socket.get(), room.data(), room.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno != ENOBUFS) return complete;
    complete = complete && size >= 0 && static_cast<size_t>(size) <= room.size();
    if (size > 0 && static_cast<size_t>(size) <= room.size())
      each(Bytes(room).first(static_cast<size_t>(size)));
  }
}

}  // namespace ibpod::nl
