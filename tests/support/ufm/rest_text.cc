#include "tests/support/ufm/rest_text.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>

namespace ibpod::fake_ufm {
namespace {

bool has_prefix(std::string_view text) { return text.starts_with("0x") || text.starts_with("0X"); }

template <typename Number>
bool read_hex(std::string_view digits, Number& number) {
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, number, 16);
  return error == std::errc() && stopped == end && !digits.empty();
}

std::string hex(uint64_t value, int width, bool upper_case) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), upper_case ? "%0*llX" : "%0*llx", width,
                static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace

Result<ib::PKey> read_pkey(std::string_view text) {
  uint16_t value = 0;
  if (!read_hex(has_prefix(text) ? text.substr(2) : text, value))
    return Error(Code::invalid, "Invalid PKey");
  return ib::PKey(value);
}

Result<ib::Guid> read_guid(std::string_view text) {
  std::string digits(has_prefix(text) ? text.substr(2) : text);
  if (digits.size() == 19)
    for (const size_t colon : {size_t{14}, size_t{9}, size_t{4}})
      if (digits[colon] == ':') digits.erase(colon, 1);
  uint64_t value = 0;
  if (digits.size() != 16 || !read_hex(digits, value)) return Error(Code::invalid, "Invalid GUID");
  return ib::Guid(value);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == separator)
      parts.emplace_back();
    else
      parts.back() += letter;
  }
  return parts;
}

Result<std::vector<ib::Guid>> read_guids(std::string_view list) {
  std::vector<ib::Guid> guids;
  for (const std::string& text : split(list, ',')) {
    const ib::Guid guid = TRY(read_guid(text));
    guids.push_back(guid);
  }
  return guids;
}

std::string show(ib::PKey pkey, const RestSettings& settings) {
  return "0x" + hex(pkey.value(), settings.pads_pkeys ? 4 : 1, settings.upper_case);
}

std::string show(ib::Guid guid, const RestSettings& settings) {
  return (settings.prefixes_guids ? "0x" : "") + hex(guid.value(), 16, settings.upper_case);
}

std::string show(std::chrono::system_clock::time_point time, const RestSettings& settings) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time + settings.utc_offset);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(),
                settings.time_format == TimeFormat::unix_date ? "%a %b %e %H:%M:%S UTC %Y"
                                                              : "%d-%m-%Y, %H:%M:%S",
                &parts);
  return text.data();
}

}  // namespace ibpod::fake_ufm
