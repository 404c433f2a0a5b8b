#include "lib/nl/replies.h"

#include "lib/nl/attributes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <linux/netlink.h>
#include <netlink/msg.h>

namespace ibpod::nl {
namespace {

// The kernel's own text after an acknowledgement, or nothing.
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

// The result in an acknowledgement or at the end of a list.
Status verdict(const nlmsghdr& header, Bytes payload, const std::string& what) {
  int number = 0;
  if (payload.size() >= sizeof number) std::memcpy(&number, payload.data(), sizeof number);
  if (number == 0) return ok();
  const auto why = words(header, payload, fixed_part(header, payload));
  return Error::from_errno(static_cast<int>(std::abs(int64_t{number})),
                           what + ": kernel" + (why ? ": " + *why : ""));
}

bool ends(const nlmsghdr& header) {
  return header.nlmsg_type == NLMSG_ERROR || header.nlmsg_type == NLMSG_DONE;
}

}  // namespace

std::optional<Status> take_replies(Bytes datagram, uint32_t sequence, const std::string& what,
                                   Replies& replies) {
  int left = static_cast<int>(datagram.size());
  // libnl's walk wants a pointer to what it only reads.
  auto* header = reinterpret_cast<nlmsghdr*>(const_cast<std::byte*>(datagram.data()));
  for (; nlmsg_ok(header, left) != 0; header = nlmsg_next(header, &left)) {
    // A late answer to a request that was given up.
    if (header->nlmsg_seq != sequence || header->nlmsg_type == NLMSG_NOOP) continue;
    if ((header->nlmsg_flags & NLM_F_DUMP_INTR) != 0) replies.interrupted = true;
    const auto* const data = static_cast<const std::byte*>(nlmsg_data(header));
    const Bytes payload(data, static_cast<size_t>(nlmsg_datalen(header)));
    if (ends(*header)) return verdict(*header, payload, what);
    replies.payloads.emplace_back(data, data + payload.size());
  }
  return std::nullopt;
}

}  // namespace ibpod::nl
