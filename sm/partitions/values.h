// Readers of the values in ibpod-sm's files. Each returns invalid with the value's path, the value
// and the expected form.
#pragma once

#include "lib/fabric/binding.h"
#include "lib/fabric/group_flags.h"
#include "lib/fabric/namespaces.h"
#include "lib/fabric/node_patterns.h"
#include "lib/json/value.h"

namespace ibpod::sm::partitions {

Result<ib::PKey> read_pkey(const json::Value& value);
Result<ib::Guid> read_guid(const json::Value& value);
Result<fabric::Membership> read_membership(const json::Value& value);
// "node" or "port".
Result<fabric::Proof> read_proof(const json::Value& value);
// In bytes: 256 to 4096.
Result<fabric::Mtu> read_mtu(const json::Value& value);
// In Gb/s: 100, or "2.5".
Result<fabric::Rate> read_rate(const json::Value& value);
Result<uint8_t> read_sl(const json::Value& value);
Result<fabric::Namespaces> read_namespaces(const json::Value& value);
Result<fabric::NodePatterns> read_node_patterns(const json::Value& value);

}  // namespace ibpod::sm::partitions
