#include "lib/fabric/port_specifier.h"

#include "lib/ib/hex.h"

#include <array>

namespace ibpod::fabric {
namespace {

constexpr std::array kGroups = {PortGroup::all, PortGroup::all_cas, PortGroup::all_switches,
                                PortGroup::all_routers, PortGroup::self};
constexpr size_t kDigits = 16;

Error refused(std::string_view text, const std::string& right) {
  return Error(Code::invalid, "\"" + std::string(text) + "\" is not a port: " + right);
}

std::string digits_of(ib::Guid guid) { return "0x" + ib::hex(guid.value(), kDigits); }

// The correct form of a text that is not a GUID of 16 digits.
std::string advice(std::string_view text) {
  const bool prefixed = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = prefixed ? text.substr(2) : text;
  const std::optional<uint64_t> value = ib::parse_hex(digits);
  if (!value)
    return "expected 0x and 16 hex digits, or ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS, SELF, NONE";
  const std::string whole = digits_of(ib::Guid(*value));
  if (!prefixed && digits.size() == kDigits)
    return "without 0x OpenSM reads a decimal or octal number: write " + whole;
  return "a GUID has 16 hex digits after 0x: write " + whole + " if that is meant";
}

}  // namespace

std::string_view name(PortGroup group) {
  switch (group) {
    case PortGroup::all:
      return "ALL";
    case PortGroup::all_cas:
      return "ALL_CAS";
    case PortGroup::all_switches:
      return "ALL_SWITCHES";
    case PortGroup::all_routers:
      return "ALL_ROUTERS";
    case PortGroup::self:
      return "SELF";
  }
  return "ALL";
}

Result<PortSpecifier> PortSpecifier::parse(std::string_view text) {
  for (const PortGroup group : kGroups) {
    if (text == name(group)) return PortSpecifier(group);
  }
  for (const std::string_view word : {name(PortGroup::all_cas), name(PortGroup::all_switches),
                                      name(PortGroup::all_routers), name(PortGroup::self)}) {
    if (!text.empty() && word.starts_with(text))
      return refused(text,
                     "OpenSM accepts the start of a word as the whole word: write the whole word");
  }
  const bool whole =
      text.size() == 2 + kDigits && (text.starts_with("0x") || text.starts_with("0X"));
  const std::optional<uint64_t> value = whole ? ib::parse_hex(text.substr(2)) : std::nullopt;
  if (!value) return refused(text, advice(text));
  const Status possible = ib::check_port_guid(ib::Guid(*value));
  if (!possible) return refused(text, possible.error().text());
  return PortSpecifier(ib::Guid(*value));
}

std::string PortSpecifier::text() const {
  return group_ ? std::string(name(*group_)) : digits_of(guid_);
}

}  // namespace ibpod::fabric
