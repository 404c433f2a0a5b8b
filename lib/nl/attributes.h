// Reads netlink attributes out of bytes that nobody vouches for. Pure; for the codecs of this
// folder.
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

// The attributes in order, repeated ones too. invalid where one ends beyond the bytes.
Result<std::vector<Attribute>> attributes(Bytes bytes);

// The text up to its terminating NUL, or to the end where there is none.
std::string text_of(const Attribute& attribute);

// The leading bytes as a Value, copied: attributes align to 4 bytes only. Longer is fine, the
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

// Takes the family's fixed header from the front of a payload.
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
