#include "lib/fabric/partitions_conf_words.h"

#include "lib/base/nearest.h"
#include "lib/ib/hex.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace ibpod::fabric {
namespace {

std::string bytes_of_mtu(uint64_t code);
std::string gbps_of_rate(uint64_t code);

constexpr Range kMtu{1, static_cast<uint64_t>(Mtu::mtu_4096), ": a code, from 256 to 4096 bytes",
                     bytes_of_mtu};
constexpr Range kRate{static_cast<uint64_t>(kFirstRate), static_cast<uint64_t>(kLastRate),
                      ": a code, 3 for 10 Gb/s", gbps_of_rate};
constexpr Range kSl{0, kMostSl};
constexpr Range kScope{1, kMostScope};
constexpr Range kQKey{0, UINT32_MAX};
constexpr Range kTClass{0, UINT8_MAX};
constexpr Range kFlowLabel{0, kMostFlowLabel};

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string text_of(const Range& range) {
  return "expected " + std::to_string(range.least) + " to " + std::to_string(range.most) +
         std::string(range.meaning);
}

std::optional<uint64_t> decimal(std::string_view text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || stopped != end || error != std::errc()) return std::nullopt;
  return value;
}

std::string without_zeros(std::string_view text, const Range& range) {
  const std::optional<uint64_t> value = decimal(text);
  if (!value || *value < range.least || *value > range.most) return "";
  return ": write " + std::to_string(*value);
}

// The code for a number of bytes or of Gb/s that was written in its place.
std::string code_of(std::string_view text, const Range& range) {
  for (uint64_t code = range.least; range.units != nullptr && code <= range.most; ++code)
    if (text == range.units(code)) return ": write " + std::to_string(code);
  return "";
}

std::string bytes_of_mtu(uint64_t code) { return std::to_string(uint64_t{128} << code); }
std::string gbps_of_rate(uint64_t code) { return gbps(*rate_of(code)); }

// Fields are as wide as their ranges.
template <typename Field>
Status set(Field& field, const Entry& entry, const Range& range) {
  const Word word = TRY(value_of(entry));
  const uint64_t number = TRY(read_number(word, range));
  field = static_cast<Field>(number);
  return ok();
}

}  // namespace

Result<ib::PKey> read_pkey(const Word& word) {
  const auto refused = [&](const std::string& right) {
    return wrong(word.position, quoted(word.text) + " is not a P_Key of a partition: " + right);
  };
  const Result<ib::PKey> pkey = ib::PKey::parse(word.text);
  if (!pkey) return wrong(word.position, ib::PKey::parse_partition(word.text).error().text());
  if (pkey->partition() == 0) return refused("OpenSM would choose one: expected 0x0001 to 0x7fff");
  if (pkey->membership() == ib::Membership::full) {
    return refused("bit 15 is the membership bit: write 0x" + ib::hex(pkey->partition(), 4));
  }
  return *pkey;
}

Result<Membership> read_membership(const Word& word) {
  const std::optional<Membership> membership = parse_membership(word.text);
  if (membership) return *membership;
  return wrong(word.position, quoted(word.text) +
                                  " is not a membership: expected full, limited or both" +
                                  is_meant(word.text, {"full", "limited", "both"}));
}

Result<uint64_t> read_number(const Word& word, const Range& range) {
  const std::string_view text = word.text;
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const bool octal = text.size() > 1 && text.front() == '0' && !hexadecimal;
  if (octal) {
    return wrong(word.position,
                 quoted(text) + " starts with 0, which OpenSM reads as octal: " + text_of(range) +
                     ", decimal or 0x and hex digits" + without_zeros(text, range));
  }
  const std::optional<uint64_t> value = hexadecimal ? ib::parse_hex(text.substr(2)) : decimal(text);
  if (!value || *value < range.least || *value > range.most)
    return wrong(word.position, quoted(text) + ": " + text_of(range) + code_of(text, range));
  return *value;
}

Result<Word> value_of(const Entry& entry) {
  if (entry.value) return *entry.value;
  return wrong(entry.name.position, quoted(entry.name.text) + " has no value: expected " +
                                        std::string(entry.name.text) + "=...");
}

Status FlagReader::once(const Entry& entry) {
  if (seen_.insert(entry.name.text).second) return ok();
  return wrong(entry.name.position, quoted(entry.name.text) + " is here twice");
}

Status FlagReader::set_scope(const Entry& entry) {
  const Word word = TRY(value_of(entry));
  const uint64_t scope = TRY(read_number(word, kScope));
  flags_.scopes = static_cast<uint16_t>(flags_.scopes | 1U << scope);
  return ok();
}

Result<bool> FlagReader::take(const Entry& entry) {
  const std::string_view name = entry.name.text;
  if (name == "scope") {
    TRY(set_scope(entry));  // may come more than once
    return true;
  }
  if (name == "mtu") {
    TRY(set(flags_.mtu, entry, kMtu));
  } else if (name == "rate") {
    TRY(set(flags_.rate, entry, kRate));
  } else if (name == "sl") {
    TRY(set(flags_.sl, entry, kSl));
  } else if (name == "Q_Key") {
    TRY(set(flags_.q_key, entry, kQKey));
  } else if (name == "TClass") {
    TRY(set(flags_.tclass, entry, kTClass));
  } else if (name == "FlowLabel") {
    TRY(set(flags_.flow_label, entry, kFlowLabel));
  } else {
    return false;
  }
  TRY(once(entry));
  return true;
}

Error FlagReader::unknown(const Entry& entry) const {
  return wrong(entry.name.position,
               quoted(entry.name.text) +
                   " is not a flag here: OpenSM would read it as another flag or ignore it" +
                   is_meant(entry.name.text, {"ipoib", "indx0", "defmember", "mtu", "rate", "sl",
                                              "scope", "Q_Key", "TClass", "FlowLabel"}));
}

}  // namespace ibpod::fabric
