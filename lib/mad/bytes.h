// Numbers in the byte order of the wire (big-endian), at fixed places of a packet. For the codecs
// of this folder.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace ibpod::mad {

// `At` is checked when this is compiled: no packet can make it read beyond the bytes.
template <std::unsigned_integral Number, size_t At, size_t Size>
constexpr Number load(const std::array<std::byte, Size>& bytes) {
  static_assert(At + sizeof(Number) <= Size);
  uint64_t number = 0;
  for (size_t i = 0; i < sizeof(Number); ++i)
    number = number << 8 | std::to_integer<uint64_t>(bytes[At + i]);
  return static_cast<Number>(number);
}

template <size_t At, std::unsigned_integral Number, size_t Size>
constexpr void store(std::array<std::byte, Size>& bytes, Number number) {
  static_assert(At + sizeof(Number) <= Size);
  uint64_t left = number;
  for (size_t i = sizeof(Number); i-- > 0; left >>= 8)
    bytes[At + i] = static_cast<std::byte>(left & 0xff);
}

}  // namespace ibpod::mad
