// Messages of the fabric's API, and their values. An answer without a value of its own is used as
// its message: check_answer() is what its reader must check.
#pragma once

#include "lib/fabricapi/binding_messages.h"
#include "lib/fabricapi/diagnosis_messages.h"
#include "lib/fabricapi/node_messages.h"
#include "lib/fabricapi/partition_messages.h"

#include <concepts>

namespace ibpod::fabricapi {

template <std::derived_from<google::protobuf::MessageLite> Message>
const Message& to_message(const Message& message) {
  return message;
}

}  // namespace ibpod::fabricapi
