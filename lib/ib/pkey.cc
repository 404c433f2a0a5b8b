#include "lib/ib/pkey.h"

#include "lib/ib/hex.h"

#include <algorithm>
#include <charconv>

namespace ibpod::ib {
namespace {

bool all_decimal(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string quoted(uint64_t value) { return "\"0x" + hex(value, 4) + "\""; }

Error no_pkey(std::string_view text) {
  return Error(Code::invalid, "\"" + std::string(text) +
                                  "\" is no P_Key: expected 0x0001 to 0xffff, such as \"0x8001\"");
}

// All readings of digits without a base that make a P_Key.
Error ambiguous(std::string_view text) {
  constexpr uint64_t kLargest = 0xffff;
  const std::optional<uint64_t> hexadecimal = parse_hex(text);
  uint64_t decimal = kLargest + 1;
  if (hexadecimal) std::from_chars(text.data(), text.data() + text.size(), decimal);
  std::string readings;
  if (hexadecimal && *hexadecimal <= kLargest) {
    readings = "as hexadecimal write " + quoted(*hexadecimal);
  }
  if (decimal <= kLargest) {
    readings += (readings.empty() ? "" : ", ") + ("as decimal write " + quoted(decimal));
  }
  if (readings.empty()) return no_pkey(text);
  return Error(Code::invalid, "\"" + std::string(text) + "\" is ambiguous: " + readings);
}

}  // namespace

std::string_view name(Membership membership) {
  return membership == Membership::full ? "full" : "limited";
}

Result<PKey> PKey::parse(std::string_view text) {
  if (all_decimal(text)) return ambiguous(text);
  std::optional<uint64_t> value;
  if (text.size() <= 6 && (text.starts_with("0x") || text.starts_with("0X"))) {
    value = parse_hex(text.substr(2));
  }
  if (!value) return no_pkey(text);
  return PKey(static_cast<uint16_t>(*value));
}

Result<PKey> PKey::from_number(int64_t number) {
  if (number < 0 || number > 0xffff) {
    return Error(Code::invalid, std::to_string(number) + " is no P_Key: expected 1 to 65535");
  }
  return PKey(static_cast<uint16_t>(number));
}

std::string PKey::text() const { return "0x" + hex(value_, 4); }

Status check_tenant(PKey key) {
  if (key.partition() == 0) {
    return Error(Code::invalid, key.text() +
                                    " is no partition: 0x0000 and 0x8000 are free places of a "
                                    "P_Key table");
  }
  if (key.partition() == 0x7fff) {
    return Error(Code::invalid, key.text() +
                                    " is the default partition, which every port is in: name a "
                                    "partition from 0x0001 to 0x7ffe");
  }
  return ok();
}

std::optional<size_t> find_in(const PKeyTable& table, PKey wanted) {
  std::optional<size_t> limited;
  for (size_t i = 0; i < table.size(); ++i) {
    if (!table[i].same_partition(wanted)) continue;
    if (table[i].membership() == Membership::full) return i;
    if (wanted.membership() == Membership::limited && !limited) limited = i;
  }
  return limited;
}

std::string text(const PKeyTable& table) {
  std::string text;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].partition() != 0)
      text += (text.empty() ? "" : " ") + std::to_string(i) + ":" + table[i].text();
  }
  return text.empty() ? "empty" : text;
}

}  // namespace ibpod::ib
