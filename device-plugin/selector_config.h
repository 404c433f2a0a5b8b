// Reads a selector of the configuration.
#pragma once

#include "device-plugin/selector.h"
#include "lib/base/result.h"
#include "lib/json/fields.h"
#include "lib/json/value.h"

#include <string>
#include <vector>

namespace ibpod::device_plugin {

// `object` is {"vendors": ["15b3"], …}. invalid names path, value and what would be right. What is
// sriov-network-device-plugin's and does not apply here, or means something else there, is a
// warning.
Result<Selector> parse_selector(const json::Value& object, std::vector<std::string>& warnings);

// The text of every element of a list; none where the key is missing.
Result<std::vector<json::Value>> elements_of(json::Fields& fields, std::string_view key);

// Checks the other keys of an object: a key under another spelling is a warning, an unknown key is
// an error.
Status check_keys(const json::Value& object, const json::Fields& fields, std::string_view known,
                  std::vector<std::string>& warnings);

}  // namespace ibpod::device_plugin
