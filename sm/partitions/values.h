// Readers of the values that only ibpod-sm's files have. Each returns invalid with the value's
// path, the value and the expected form.
#pragma once

#include "lib/fabric/group_flags.h"
#include "lib/ib/pkey.h"
#include "lib/json/value.h"

namespace ibpod::sm::partitions {

// The P_Key of a tenant partition: not the default partition, and not 0.
Result<ib::PKey> read_pkey(const json::Value& value);
// In bytes: 256 to 4096.
Result<fabric::Mtu> read_mtu(const json::Value& value);
// In Gb/s: 100, or "2.5".
Result<fabric::Rate> read_rate(const json::Value& value);
Result<uint8_t> read_sl(const json::Value& value);

}  // namespace ibpod::sm::partitions
