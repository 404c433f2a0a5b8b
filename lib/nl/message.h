// Message: one netlink request, built from the front. Bytes only; no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct nl_msg;
struct nlattr;

namespace ibpod::nl {

class Message {
 public:
  // `what` describes the request for errors: "set MTU of net1". `type` and `flags` go into the
  // netlink header (NLM_F_REQUEST is added).
  Message(std::string what, uint16_t type, uint16_t flags);
  Message(Message&&) noexcept;
  Message& operator=(Message&&) noexcept;
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message();

  const std::string& what() const { return what_; }

  // The family's fixed header (ifinfomsg, ifaddrmsg …), copied as it is.
  template <typename Header>
  Message& header(const Header& header) {
    return append(std::as_bytes(std::span(&header, 1)));
  }
  // Attributes, in host byte order.
  Message& u8(int attribute, uint8_t value);
  Message& u16(int attribute, uint16_t value);
  Message& u32(int attribute, uint32_t value);
  Message& text(int attribute, std::string_view value);
  Message& bytes(int attribute, std::span<const std::byte> value);
  template <typename Value>
  Message& value(int attribute, const Value& value) {
    return bytes(attribute, std::as_bytes(std::span(&value, 1)));
  }
  // Attributes added between open() and close() are nested.
  Message& open(int attribute);
  Message& close();

  // The whole message (sequence number and port are still 0).
  std::span<const std::byte> encoded() const;

 private:
  friend class Socket;
  struct Nesting;
  Message& append(std::span<const std::byte> bytes);
  nl_msg* native() const;
  // True if everything fitted and every nest was closed.
  bool complete() const;
  std::string what_;
  std::unique_ptr<Nesting> nesting_;
};

}  // namespace ibpod::nl
