// FNV-1a, 64 bits: compares texts and detects damage. Not a protection against attackers.
#pragma once

#include <cstdint>
#include <string_view>

namespace ibpod {

constexpr uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace ibpod
