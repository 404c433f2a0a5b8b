// Readers of values that only ibpod-sm's configuration has. Each returns invalid with the value's
// path, the value and the expected form.
#pragma once

#include "sm/config/config.h"

#include <map>
#include <string>
#include <vector>

namespace ibpod::sm::config {

// The error of a key whose value does not go with the others.
Error unfit(const std::string& text);
Result<EngineKind> read_engine(const json::Value& value);
Result<state::LeasePolicy> read_lease_end(const json::Value& value);
// {"others": "limited" | "full", "ipoib": true}: the default partition: the membership of all ports
// that no partition names, and whether it has IPoIB.
Result<fabric::PartitionDefinition> read_default_rule(const json::Value& value);
// {"n1": {"guids": […], "pfs": […]}}
Result<std::map<std::string, state::Policy::NodePorts>> read_nodes(const json::Value& value);
// [{"first": "0x0001", "last": "0x0fff", "use": "automatic" | "explicit"}]
Result<std::vector<pool::PKeyRange>> read_pkey_ranges(const json::Value& value);
// [{"first": "0x0200000000000001", "last": "0x02000000000000ff"}]
Result<std::vector<pool::GuidRange>> read_guid_ranges(const json::Value& value);
struct Number {
  int64_t value;
  // NOLINTNEXTLINE(google-explicit-constructor): into a field of whatever width, which holds it
  template <typename Integer>
  operator Integer() const {
    return static_cast<Integer>(value);
  }
};
template <int64_t least, int64_t most>
Result<Number> read_number(const json::Value& value) {
  const int64_t number = TRY(value.integer(least, most));
  return Number{number};
}
template <int64_t least, int64_t most>
Result<Duration> read_seconds(const json::Value& value) {
  const int64_t seconds = TRY(value.integer(least, most));
  return Duration(seconds * 1000);
}

}  // namespace ibpod::sm::config
