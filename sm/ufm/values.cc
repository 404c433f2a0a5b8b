#include "sm/ufm/values.h"

#include "lib/base/printable.h"
#include "lib/base/words.h"
#include "lib/ib/hex.h"

#include <array>
#include <charconv>

namespace ibpod::sm::ufm {
namespace {

constexpr size_t kLongestName = 64;

std::string_view without_prefix(std::string_view text) {
  return text.substr(text.starts_with("0x") || text.starts_with("0X") ? 2 : 0);
}

std::string lower(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

// Nothing if the text has another form, or 0 or all ones: "no GUID".
std::optional<ib::Guid> parse_guid(std::string_view text) {
  if (text.find(':') != text.npos) {
    const auto guid = ib::Guid::parse(text);
    return guid && !guid->none() ? std::optional(*guid) : std::nullopt;
  }
  const std::optional<uint64_t> value = ib::parse_hex(without_prefix(text));
  if (!value || ib::Guid(*value).none()) return std::nullopt;
  return ib::Guid(*value);
}

std::string in_quotes(std::string_view text) { return "\"" + printable(text, 40) + "\""; }

}  // namespace

Result<ib::PKey> parse_pkey(std::string_view text) {
  const std::optional<uint64_t> value = ib::parse_hex(without_prefix(text));
  if (value && *value >= 1 && *value <= 0x7fff) return ib::PKey(static_cast<uint16_t>(*value));
  return Error(Code::invalid, "expected a P_Key from 0x0001 to 0x7fff, got " + in_quotes(text));
}

Result<ib::PKey> read_pkey(const json::Value& value) {
  const std::string text = TRY(value.string());
  const auto pkey = parse_pkey(text);
  if (!pkey) return value.wrong(pkey.error().text());
  return pkey;
}

Result<ib::Guid> read_guid(const json::Value& value) {
  const std::string text = TRY(value.string());
  const std::optional<ib::Guid> guid = parse_guid(text);
  if (guid) return *guid;
  return value.wrong("expected the GUID of a port in 1 to 16 hex digits, got " + in_quotes(text));
}

Result<std::optional<bool>> read_flag(const json::Value& value) {
  static const Words<bool> words = {{"true", true}, {"false", false}, {"yes", true},
                                    {"no", false},  {"1", true},      {"0", false}};
  if (value.is_string()) {
    const std::string word = TRY(value.string());
    return find_word(words, lower(word));
  }
  if (value.is_number()) {
    const int64_t number = TRY(value.integer(0, 1));
    return std::optional(number == 1);
  }
  const bool flag = TRY(value.boolean());
  return std::optional(flag);
}

Result<std::optional<ib::Membership>> read_membership(const json::Value& value) {
  static const Words<ib::Membership> words = {{"full", ib::Membership::full},
                                              {"limited", ib::Membership::limited}};
  const std::string word = TRY(value.string());
  return find_word(words, lower(word));
}

Result<std::string> read_name(const json::Value& value) {
  const std::string text = TRY(value.string());
  return printable(text, kLongestName);
}

std::string pkey_text(ib::PKey pkey) {
  std::array<char, 4> digits{};
  const auto written =
      std::to_chars(digits.data(), digits.data() + digits.size(), pkey.partition(), 16);
  return "0x" + std::string(digits.data(), written.ptr);
}

std::string guid_text(ib::Guid guid) { return ib::hex(guid.value(), 16); }

}  // namespace ibpod::sm::ufm
