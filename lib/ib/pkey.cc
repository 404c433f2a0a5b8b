#include "lib/ib/pkey.h"

#include "lib/base/join.h"
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

// The rules for a text: which bits are the key's, and how large it may be.
struct Form {
  uint64_t bits;
  uint64_t most;
};
constexpr Form kMember{0xffff, 0xffff};
constexpr Form kPartition{0x7fff, 0x7fff};
constexpr Form kTenant{0x7fff, 0x7ffe};

// The text to write for `value`; nothing if that would be refused, too.
std::optional<std::string> advice(std::optional<uint64_t> value, const Form& form) {
  if (!value || *value > 0xffff || (*value & 0x7fff) == 0) return std::nullopt;
  const uint64_t key = *value & form.bits;
  return key <= form.most ? std::optional(quoted(key)) : std::nullopt;
}

// Digits with a letter among them have one reading.
Error no_pkey(std::string_view text, const Form& form) {
  const auto meant = all_decimal(text) ? std::nullopt : advice(parse_hex(text), form);
  const std::string example = form.bits == kMember.bits ? "\"0x8001\"" : "\"0x0001\"";
  return Error(Code::invalid, "\"" + std::string(text) +
                                  "\" is not a P_Key: expected 0x0001 to 0x" + hex(form.most, 4) +
                                  (meant ? ": write " + *meant : ", such as " + example));
}

std::optional<uint64_t> decimal(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// All readings of digits without a base that make a P_Key.
Error ambiguous(std::string_view text, const Form& form) {
  const std::optional<std::string> as_hex = advice(parse_hex(text), form);
  const std::optional<std::string> as_decimal = advice(decimal(text), form);
  if (!as_hex && !as_decimal) return no_pkey(text, form);
  const std::string what = "\"" + std::string(text) + "\" ";
  if (as_hex == as_decimal) return Error(Code::invalid, what + "has no base: write " + *as_hex);
  std::string readings;
  if (as_hex) readings = "write " + *as_hex + " for hexadecimal";
  if (as_decimal) readings += (as_hex ? " or " : "write ") + (*as_decimal + " for decimal");
  return Error(Code::invalid, what + "is ambiguous: " + readings);
}

Result<PKey> parse_as(std::string_view text, const Form& form) {
  const bool one_digit = text.size() == 1 && all_decimal(text);
  if (all_decimal(text) && !one_digit) return ambiguous(text, form);
  std::optional<uint64_t> value = one_digit ? parse_hex(text) : std::nullopt;
  if (text.size() <= 6 && (text.starts_with("0x") || text.starts_with("0X")))
    value = parse_hex(text.substr(2));
  if (!value) return no_pkey(text, form);
  return PKey(static_cast<uint16_t>(*value));
}

Result<PKey> partition_as(std::string_view text, const Form& form) {
  const PKey key = TRY(parse_as(text, form));
  TRY(check_member(key));
  if (form.most == kTenant.most) TRY(check_tenant(key));
  if (key.membership() == Membership::limited) return key;
  return Error(Code::invalid,
               key.text() + " has bit 15 set (membership full): write " + quoted(key.partition()));
}

}  // namespace

std::string_view name(Membership membership) {
  return membership == Membership::full ? "full" : "limited";
}

Result<PKey> PKey::parse(std::string_view text) { return parse_as(text, kMember); }

Result<PKey> PKey::parse_partition(std::string_view text) { return partition_as(text, kPartition); }

Result<PKey> PKey::parse_tenant(std::string_view text) { return partition_as(text, kTenant); }

Result<PKey> PKey::from_number(int64_t number) {
  if (number < 0 || number > 0xffff) {
    return Error(Code::invalid, std::to_string(number) + " is not a P_Key: expected 1 to 65535");
  }
  return PKey(static_cast<uint16_t>(number));
}

std::string PKey::text() const { return "0x" + hex(value_, 4); }

Status check_member(PKey key) {
  if (key.partition() != 0) return ok();
  return Error(Code::invalid, key.text() +
                                  " is not a partition: 0x0000 and 0x8000 mark free entries of a "
                                  "P_Key table");
}

Status check_tenant(PKey key) {
  TRY(check_member(key));
  if (key.partition() == 0x7fff) {
    return Error(Code::invalid, key.text() +
                                    " is the default partition, which has every port: set a "
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
    if (table[i].partition() != 0) add_item(text, " ", std::to_string(i) + ":" + table[i].text());
  }
  return text.empty() ? "empty" : text;
}

}  // namespace ibpod::ib
