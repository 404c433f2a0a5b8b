// How often a field may come in a message, counted on the wire before the message is parsed: an
// empty part has two bytes there, and 50 as an object, so that 4 MiB would become 100.
#pragma once

#include "lib/base/result.h"

#include <span>
#include <string_view>

#include <grpcpp/support/byte_buffer.h>

namespace ibpod::rpc {

// A repeated field, or a message with repeated fields in it.
struct Part {
  enum class Kind { whole, numbers };  // a message or a string; or numbers, many of them in one
  int field;                           // its number
  std::string_view name;               // for refusals
  int most;                            // in all of the message that is read
  std::span<const Part> inner = {};    // of a message
  Kind kind = Kind::whole;
};

// invalid, with the field and its limit, as soon as there is one item too many; also if the bytes
// are not a message. A field that is in no Part is skipped: the message takes no more than its
// bytes for it.
Status check_parts(const grpc::ByteBuffer& bytes, std::span<const Part> parts);

}  // namespace ibpod::rpc
