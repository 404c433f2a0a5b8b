#include "lib/nl/socket.h"

#include "lib/base/clock.h"
#include "lib/base/netns_thread.h"
#include "lib/nl/attributes.h"
#include "lib/nl/drain.h"
#include "lib/nl/message.h"

#include <cstring>
#include <optional>

#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <sys/socket.h>
#include <sys/time.h>

namespace ibpod::nl {
namespace {

// How long an answer may take. The kernel works on most requests inside sendmsg() already, where
// nothing bounds the wait for its locks; this one is for an answer that never comes.
constexpr Duration kPatience{20000};
// How often a list that changed while it was read is asked for again.
constexpr int kAttempts = 8;

using Buffer = std::vector<std::byte>;

struct Replies {
  std::vector<Buffer> payloads;
  bool interrupted = false;  // NLM_F_DUMP_INTR: may lack entries or have them twice
};

int protocol(Family family) { return family == Family::route ? NETLINK_ROUTE : NETLINK_RDMA; }

Status set_option(const Fd& fd, int level, int option, int value) {
  TRY(sys("setsockopt on a netlink socket",
          [&] { return ::setsockopt(fd.get(), level, option, &value, sizeof value); }));
  return ok();
}

Status set_options(const Fd& fd) {
  TRY(set_option(fd, SOL_NETLINK, NETLINK_EXT_ACK, 1));  // refusals in words
  TRY(set_option(fd, SOL_NETLINK, NETLINK_CAP_ACK, 1));  // … without an echo of the request
  const timeval patience{kPatience.count() / 1000, 0};
  TRY(sys("setsockopt on a netlink socket", [&] {
    return ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }));
  return ok();
}

// Sockets are made and read here and not by libnl, whose error numbers fold many errnos into one.
// EPROTONOSUPPORT for Family::rdma says that ib_core is not loaded.
Result<Fd> open_bound(Family family) {
  Fd fd(TRY(sys("open a netlink socket",
                [&] { return ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol(family)); })));
  TRY(set_options(fd));
  sockaddr_nl own{};
  own.nl_family = AF_NETLINK;
  TRY(sys("bind a netlink socket",
          [&] { return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own); }));
  return fd;
}

Error explain(Error error, const std::string& what) {
  if (error.error_number() != EAGAIN) return std::move(error).during(what);
  return Error(Code::unavailable, what + ": no answer from the kernel");
}

// One datagram from the kernel, however large.
Result<Buffer> receive(int fd) {
  while (true) {
    const ssize_t size =
        TRY(sys("receive", [&] { return ::recv(fd, nullptr, 0, MSG_PEEK | MSG_TRUNC); }));
    Buffer buffer(static_cast<size_t>(size));
    sockaddr_nl from{};
    socklen_t length = sizeof from;
    TRY(sys("receive", [&] {
      return ::recvfrom(fd, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from),
                        &length);
    }));
    if (from.nl_pid == 0) return buffer;  // any process may write to us; only the kernel is port 0
  }
}

// The kernel's own words behind an acknowledgement, or nothing.
std::optional<std::string> words(const nlmsghdr& header, Bytes payload, size_t fixed) {
  if ((header.nlmsg_flags & NLM_F_ACK_TLVS) == 0 || payload.size() < fixed) return std::nullopt;
  const auto found = attributes(payload.subspan(fixed));
  if (!found) return std::nullopt;
  for (const Attribute& attribute : *found) {
    if (attribute.type == NLMSGERR_ATTR_MSG) return text_of(attribute);
  }
  return std::nullopt;
}

// How many bytes of an acknowledgement are in front of its attributes: the number alone at the end
// of a list; the number, the request's header and, unless it is left out, the request's payload.
size_t fixed_part(const nlmsghdr& header, Bytes payload) {
  if (header.nlmsg_type == NLMSG_DONE) return sizeof(int);
  nlmsgerr error{};
  std::memcpy(&error, payload.data(), std::min(payload.size(), sizeof error));
  if ((header.nlmsg_flags & NLM_F_CAPPED) != 0) return sizeof error;
  return sizeof(int) + NLMSG_ALIGN(error.msg.nlmsg_len);
}

// What an acknowledgement or the end of a list says.
Status verdict(const nlmsghdr& header, Bytes payload, const std::string& what) {
  int number = 0;
  if (payload.size() >= sizeof number) std::memcpy(&number, payload.data(), sizeof number);
  if (number == 0) return ok();
  const auto why = words(header, payload, fixed_part(header, payload));
  return Error::from_errno(std::abs(number), what + ": kernel" + (why ? ": " + *why : ""));
}

bool ends(const nlmsghdr& header) {
  return header.nlmsg_type == NLMSG_ERROR || header.nlmsg_type == NLMSG_DONE;
}

// Sorts one datagram's messages into `replies`. The verdict, once the datagram contains it.
std::optional<Status> sort_in(const Buffer& datagram, uint32_t sequence, const std::string& what,
                              Replies& replies) {
  int left = static_cast<int>(datagram.size());
  // libnl's walk wants a pointer to what it only reads.
  auto* header = reinterpret_cast<nlmsghdr*>(const_cast<std::byte*>(datagram.data()));
  for (; nlmsg_ok(header, left) != 0; header = nlmsg_next(header, &left)) {
    if (header->nlmsg_seq != sequence) continue;  // a late answer to a request that was given up
    if ((header->nlmsg_flags & NLM_F_DUMP_INTR) != 0) replies.interrupted = true;
    const auto* const data = static_cast<const std::byte*>(nlmsg_data(header));
    const Bytes payload(data, static_cast<size_t>(nlmsg_datalen(header)));
    if (ends(*header)) return verdict(*header, payload, what);
    if (header->nlmsg_type != NLMSG_NOOP)
      replies.payloads.emplace_back(data, data + payload.size());
  }
  return std::nullopt;
}

// Sends the request under a sequence number, asking for an acknowledgement.
Status transmit(int fd, const Message& message, uint32_t sequence) {
  const std::span<const std::byte> encoded = message.encoded();
  Buffer request(encoded.begin(), encoded.end());
  nlmsghdr header{};
  std::memcpy(&header, request.data(), sizeof header);
  header.nlmsg_seq = sequence;
  header.nlmsg_flags |= NLM_F_ACK;
  std::memcpy(request.data(), &header, sizeof header);
  TRY(sys("send", [&] { return ::send(fd, request.data(), request.size(), 0); }));
  return ok();
}

// One request and all that is said to it.
Result<Replies> exchange(int fd, const Message& message, uint32_t sequence) {
  const Status sent = transmit(fd, message, sequence);
  if (!sent) return explain(sent.error(), message.what());
  Replies replies;
  while (true) {
    const Result<Buffer> datagram = receive(fd);
    if (!datagram) return explain(datagram.error(), message.what());
    std::optional<Status> said = sort_in(*datagram, sequence, message.what(), replies);
    if (said && !*said) return std::move(*said).error();
    if (said) return replies;
  }
}

// Whether asking again may help: the list changed while it was read, or the kernel could not queue
// its answer.
bool worth_repeating(const Result<Replies>& replies) {
  return replies ? replies->interrupted : replies.error().error_number() == ENOBUFS;
}

}  // namespace

Result<Socket> Socket::open(Family family) {
  Fd fd = TRY(open_bound(family));
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
  TRY(exchange(fd_.get(), message, ++sequence_));
  return ok();
}

Status Socket::ask(const Message& message, const std::function<Status(Bytes)>& each) {
  if (!message.complete())
    return Error(Code::invalid, message.what() + ": the request is too long");
  Result<Replies> replies = exchange(fd_.get(), message, ++sequence_);
  for (int i = 1; i < kAttempts && worth_repeating(replies); ++i) {
    replies = exchange(fd_.get(), message, ++sequence_);
  }
  if (!replies) return std::move(replies).error();
  if (replies->interrupted) {
    return Error(Code::unavailable, message.what() + ": the list keeps changing while it is read");
  }
  for (const Buffer& payload : replies->payloads) TRY(each(payload).during(message.what()));
  return ok();
}

Status Socket::subscribe_to_links() {
  return set_option(fd_, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, RTNLGRP_LINK);
}

void Socket::drain() { discard_arrived(fd_); }

}  // namespace ibpod::nl
