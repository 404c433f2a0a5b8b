#include "lib/nl/message.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include <netlink/attr.h>
#include <netlink/msg.h>

namespace ibpod::nl {
namespace {

// More than any request here needs. A request that does not fit makes the message incomplete, which
// send() reports; nothing is truncated silently.
constexpr size_t kCapacity = 16384;

}  // namespace

struct Message::Nesting {
  struct Free {
    void operator()(nl_msg* owned) const { nlmsg_free(owned); }
  };
  std::unique_ptr<nl_msg, Free> message;
  std::vector<nlattr*> open;  // libnl never moves a message's bytes
  bool complete = true;
};

Message::Message(std::string what, uint16_t type, uint16_t flags)
    : what_(std::move(what)), nesting_(std::make_unique<Nesting>()) {
  nesting_->message.reset(nlmsg_alloc_size(kCapacity));
  if (!nesting_->message) std::abort();
  if (nlmsg_put(native(), NL_AUTO_PORT, NL_AUTO_SEQ, type, 0, NLM_F_REQUEST | flags) == nullptr) {
    std::abort();
  }
}

Message::Message(Message&&) noexcept = default;
Message& Message::operator=(Message&&) noexcept = default;
Message::~Message() = default;

nl_msg* Message::native() const { return nesting_->message.get(); }

bool Message::complete() const { return nesting_->complete && nesting_->open.empty(); }

Message& Message::append(std::span<const std::byte> bytes) {
  // nlmsg_append() reads only; it takes no const.
  void* data = const_cast<std::byte*>(bytes.data());
  if (nlmsg_append(native(), data, bytes.size(), NLMSG_ALIGNTO) != 0) nesting_->complete = false;
  return *this;
}

Message& Message::u8(int attribute, uint8_t value) { return this->value(attribute, value); }
Message& Message::u16(int attribute, uint16_t value) { return this->value(attribute, value); }
Message& Message::u32(int attribute, uint32_t value) { return this->value(attribute, value); }

Message& Message::text(int attribute, std::string_view value) {
  const std::string terminated(value);
  return bytes(attribute, std::as_bytes(std::span(terminated.c_str(), terminated.size() + 1)));
}

Message& Message::bytes(int attribute, std::span<const std::byte> value) {
  // A length beyond the capacity is stopped here: libnl counts in int.
  if (value.size() > kCapacity ||
      nla_put(native(), attribute, static_cast<int>(value.size()), value.data()) != 0) {
    nesting_->complete = false;
  }
  return *this;
}

Message& Message::open(int attribute) {
  nesting_->open.push_back(nla_nest_start(native(), attribute));
  if (nesting_->open.back() == nullptr) nesting_->complete = false;
  return *this;
}

Message& Message::close() {
  if (nesting_->open.empty()) std::abort();
  nlattr* const attribute = nesting_->open.back();
  nesting_->open.pop_back();
  if (attribute != nullptr) nla_nest_end(native(), attribute);
  return *this;
}

std::span<const std::byte> Message::encoded() const {
  const nlmsghdr* const header = nlmsg_hdr(native());
  return std::as_bytes(std::span(reinterpret_cast<const char*>(header), header->nlmsg_len));
}

}  // namespace ibpod::nl
