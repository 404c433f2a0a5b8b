// Guid: the 64-bit EUI-64 that names an InfiniBand node or port (IBA 1.4, volume 1, section 4.1).
#pragma once

#include "lib/base/result.h"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace ibpod::ib {

class Guid {
 public:
  constexpr Guid() = default;
  // `value` in host byte order: 00:11:…:77 is 0x0011…77.
  constexpr explicit Guid(uint64_t value) : value_(value) {}
  // Bytes in wire order, as at the end of a GID or of an IPoIB hardware address.
  static Guid from_bytes(const std::array<uint8_t, 8>& bytes);

  // Reads 00:11:22:33:44:55:66:77, 0011:2233:4455:6677 (as the kernel prints it in sysfs) or
  // 0x0011223344556677; any case. invalid for everything else.
  static Result<Guid> parse(std::string_view text);

  constexpr uint64_t value() const { return value_; }
  // 00:11:22:33:44:55:66:77
  std::string text() const;
  // 0011:2233:4455:6677, the form in a GID, whose first half is the subnet prefix.
  std::string text_in_gid() const;

  // True for all zeros and all ones. Both mean "no GUID": a fresh VF has zeros, a returned one has
  // ones (the kernel does not accept zeros).
  constexpr bool none() const { return value_ == 0 || value_ == UINT64_MAX; }
  // The bit that makes an EUI-64 a group address (the lowest bit of the first byte).
  constexpr bool multicast() const { return (value_ >> 56 & 1) != 0; }

  constexpr auto operator<=>(const Guid&) const = default;

 private:
  uint64_t value_ = 0;
};

inline constexpr Guid kNoGuid{UINT64_MAX};

// Two rules, because GUIDs that others chose must be accepted. This one: a port can have the GUID,
// so it is not none(). Kernel, IPoIB and OpenSM require no more, and tools that draw GUIDs at
// random produce multicast() ones. For everything that is read, listed, compared or bound.
Status check_port_guid(Guid guid);
// A GUID that ibpod may assign: check_port_guid(), and not multicast().
Status check_allocatable(Guid guid);

}  // namespace ibpod::ib
