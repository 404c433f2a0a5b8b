// Checks certificates and keys with OpenSSL before they are used.
#pragma once

#include "lib/base/result.h"

#include <chrono>
#include <string>

namespace ibpod::rpc {

struct Validity {
  std::chrono::system_clock::time_point from, until;
};

// The arguments are PEM text, which errors never quote; invalid if they cannot be used.

// At least one certificate, and nothing that begins as one and is none: gRPC would leave out the
// rest of the file from there on.
Status check_authorities(const std::string& text);

// A certificate with its chain, and the key that belongs to it.
Result<Validity> check_pair(const std::string& certificate, const std::string& key);

// The error says since when it is valid, or when it expired.
Status check_today(const Validity& valid);
// "2026-11-26T23:03:52Z"
std::string text_of(std::chrono::system_clock::time_point time);

}  // namespace ibpod::rpc
