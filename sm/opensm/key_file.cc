#include "sm/opensm/key_file.h"

#include "lib/base/private_file.h"
#include "lib/ib/hex.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace ibpod::sm::opensm {

namespace {

constexpr size_t kMostBytes = 64;

Result<uint64_t> parse_key(const std::string& text, const Path& path) {
  constexpr std::string_view kBlank = " \t\r\n";
  std::string_view line(text.data(), text.find_last_not_of(kBlank) + 1);
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  const auto key = line.starts_with("0x") ? ib::parse_hex(line.substr(2)) : std::nullopt;
  if (key) return *key;
  return Error(Code::invalid,
               path.string() + " contains no key: expected 0x and 1 to 16 hex digits");
}

}  // namespace

Result<uint64_t> read_key_file(const Path& path) {
  const std::string text = TRY(read_private_file(path, kMostBytes));
  return parse_key(text, path);
}

Result<OpenKey> read_open_key_file(const Path& path) {
  const Status file = check_private(path);
  if (!file && file.error().code() != Code::denied) return file.error();
  const std::string text = TRY(read_trusted_file(path, kMostBytes));
  const uint64_t key = TRY(parse_key(text, path));
  return OpenKey{key, file};
}

}  // namespace ibpod::sm::opensm
