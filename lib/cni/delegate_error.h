// DelegateError: what another plugin, which we have run, says of its own failure.
#pragma once

#include "lib/base/process.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ibpod::cni {

// A plugin's own error, as it prints it on stdout.
struct DelegateError {
  int64_t code = 0;
  std::string text;  // "MSG; DETAILS", of which at most 1,024 bytes
};
// Nothing where the output is no such error.
std::optional<DelegateError> parse_delegate_error(const std::string& output);

// Why it failed: its complaint and code; without one its exit code and what else it said.
std::string describe(const Finished& finished, const std::optional<DelegateError>& delegate_error);

// The end of what a plugin wrote, where the reason stands: whole lines if there are several.
std::string tail(const std::string& written);

}  // namespace ibpod::cni
