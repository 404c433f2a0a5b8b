// Complaint: what another plugin, which we have run, says of its own failure.
#pragma once

#include "lib/base/process.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ibpod::cni {

// A plugin's own error, as it prints it on stdout.
struct Complaint {
  int64_t code = 0;
  std::string text;  // "MSG; DETAILS", of which at most 1,024 bytes
};
// Nothing where the output is no such error.
std::optional<Complaint> parse_complaint(const std::string& output);

// Why it failed: its complaint and code; without one its exit code and what else it said.
std::string describe(const Finished& finished, const std::optional<Complaint>& complaint);

// The end of what a plugin wrote, where the reason stands: whole lines if there are several.
std::string tail(const std::string& written);

}  // namespace ibpod::cni
