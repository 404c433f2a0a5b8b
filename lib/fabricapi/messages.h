// Messages of the fabric's API, and their values. An answer without a value of its own is used as
// its message: check_answer() is what its reader must check.
#pragma once

#include "lib/fabricapi/binding_messages.h"
#include "lib/fabricapi/diagnosis_messages.h"
#include "lib/fabricapi/node_messages.h"
#include "lib/fabricapi/partition_messages.h"

#include <concepts>

namespace ibpod::fabricapi {

// Answers that have no text of other parties, so there is nothing to clean.
template <typename Message>
concept CleanAnswer = std::same_as<Message, v1::ObserveResponse> ||
    std::same_as<Message, v1::FabricNode> || std::same_as<Message, v1::ListNodesResponse>;
template <CleanAnswer Message>
Message to_message(Message message) {
  return message;
}

}  // namespace ibpod::fabricapi
