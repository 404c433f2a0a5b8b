// Requests whose replies one codec parses.
#pragma once

#include "lib/nl/message.h"
#include "lib/nl/socket.h"

#include <vector>

namespace ibpod::nl {

// All replies, read by `parse`.
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

// The only reply.
template <typename Value>
Result<Value> get_one(Socket& socket, const Message& message,
                      const std::function<Result<Value>(Bytes)>& parse) {
  std::vector<Value> values = TRY(dump(socket, message, parse));
  if (values.empty())
    return Error(Code::internal, message.what() + ": the kernel returned nothing");
  return std::move(values.front());
}

}  // namespace ibpod::nl
