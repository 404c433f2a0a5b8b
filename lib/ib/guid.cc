#include "lib/ib/guid.h"

#include "lib/base/join.h"
#include "lib/ib/hex.h"

#include <algorithm>

namespace ibpod::ib {
namespace {

// The digits of `text` if it is `groups` groups of `width` hex digits between colons.
std::optional<std::string> grouped(std::string_view text, size_t groups, size_t width) {
  if (text.size() != groups * width + groups - 1) return std::nullopt;
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool separator = i % (width + 1) == width;
    if (separator != (text[i] == ':')) return std::nullopt;
    if (!separator) digits += text[i];
  }
  return digits;
}

// In pieces of so many bytes.
std::string pieces(uint64_t value, int bytes) {
  std::string text;
  for (int shift = 64 - 8 * bytes; shift >= 0; shift -= 8 * bytes) {
    const uint64_t piece = value >> shift & ((uint64_t{1} << 8 * bytes) - 1);
    add_item(text, ":", hex(piece, 2 * bytes));
  }
  return text;
}

// The GUID that a text means that has it in another form: with other separators, without any, with
// 0x and short, or as the end of a GID or of an IPoIB hardware address.
std::optional<Guid> meant_by(std::string_view text) {
  const bool prefixed = text.starts_with("0x") || text.starts_with("0X");
  std::string digits;
  for (const char c : prefixed ? text.substr(2) : text)
    if (std::string_view(":-. ").find(c) == std::string_view::npos) digits += c;
  constexpr size_t kGuid = 16, kGid = 32, kHardwareAddress = 40;
  const size_t size = digits.size();
  const bool is_long = size == kGid || size == kHardwareAddress;
  if (size != kGuid && !is_long && !(prefixed && size > 0 && size < kGuid)) return std::nullopt;
  if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return std::nullopt;
  const Guid guid(*parse_hex(is_long ? digits.substr(size - kGuid) : digits));
  return guid.none() ? std::nullopt : std::optional(guid);
}

Error no_guid(std::string_view text) {
  const std::optional<Guid> meant = meant_by(text);
  return Error(
      Code::invalid,
      "\"" + std::string(text) + "\" is not a GUID: expected eight bytes in hex" +
          (meant ? ": write " + meant->text() : std::string(", such as 00:11:22:33:44:55:66:77")));
}

}  // namespace

Guid Guid::from_bytes(const std::array<uint8_t, 8>& bytes) {
  uint64_t value = 0;
  for (const uint8_t byte : bytes) value = value << 8 | byte;
  return Guid(value);
}

Result<Guid> Guid::parse(std::string_view text) {
  std::optional<std::string> digits = grouped(text, 8, 2);
  if (!digits) digits = grouped(text, 4, 4);
  if (!digits && text.size() == 18 && (text.starts_with("0x") || text.starts_with("0X"))) {
    digits = std::string(text.substr(2));
  }
  const std::optional<uint64_t> value = digits ? parse_hex(*digits) : std::nullopt;
  if (!value) return no_guid(text);
  return Guid(*value);
}

std::string Guid::text() const { return pieces(value_, 1); }
std::string Guid::text_in_gid() const { return pieces(value_, 2); }

Status check_port_guid(Guid guid) {
  if (guid.value() == 0)
    return Error(Code::invalid, guid.text() + " is all zeros: a port cannot have this GUID");
  if (guid == kNoGuid)
    return Error(Code::invalid,
                 guid.text() + " is all ones, which means that the port has no GUID");
  return ok();
}

Status check_allocatable(Guid guid) {
  TRY(check_port_guid(guid));
  if (!guid.multicast()) return ok();
  const Guid unicast(guid.value() ^ uint64_t{1} << 56);
  return Error(Code::invalid, guid.text() +
                                  " is a group address, which no port can have: the lowest bit of "
                                  "its first byte must be 0, as in " +
                                  unicast.text());
}

}  // namespace ibpod::ib
