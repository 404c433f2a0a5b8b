// Whose an attachment is, for people.
#pragma once

#include "lib/node/record.h"

#include <string>

namespace ibpod::node {

// "pod default/trainer-0 (net1)", or by its container where no pod is named.
std::string describe_owner(const Record& record);

}  // namespace ibpod::node
