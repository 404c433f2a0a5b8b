// Reads netlink attributes from untrusted bytes. Pure; for the codecs of this folder.
#pragma once

#include "lib/base/result.h"
#include "lib/nl/socket.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace ibpod::nl {

struct Attribute {
  int type = 0;  // without the flag bits
  Bytes value;
};

// The attributes in order, with repeated ones. invalid if one extends past the end.
Result<std::vector<Attribute>> attributes(Bytes bytes);

// The text up to its NUL, or to the end without one.
std::string text_of(const Attribute& attribute);

// Copies the leading bytes into a Value (attributes align to 4 bytes only). Longer is fine: the
// kernel lets structures grow.
template <typename Value>
Result<Value> value_of(const Attribute& attribute) {
  Value value{};
  if (attribute.value.size() < sizeof value) {
    return Error(Code::invalid, "attribute " + std::to_string(attribute.type) + " is too short");
  }
  std::memcpy(&value, attribute.value.data(), sizeof value);
  return value;
}

// Removes the family's fixed header from the front of a payload.
template <typename Header>
Result<Header> take_header(Bytes& payload) {
  constexpr size_t kAligned = (sizeof(Header) + 3) & ~size_t{3};
  Header header{};
  if (payload.size() < kAligned) return Error(Code::invalid, "the message is too short");
  std::memcpy(&header, payload.data(), sizeof header);
  payload = payload.subspan(kAligned);
  return header;
}

}  // namespace ibpod::nl
