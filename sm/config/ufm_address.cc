#include "lib/https/address.h"
#include "sm/config/ufm_section.h"

namespace ibpod::sm::config {
namespace {

// A hint for the usual mistakes; empty: there is none.
std::string hint(std::string_view text) {
  if (text.starts_with("http://"))
    return ": without TLS every machine on the way could read ibpod-sm's credentials, and answer "
           "as UFM";
  const size_t host = text.find("://");
  if (host != text.npos && text.find('/', host + 3) != text.npos)
    return ": no path, because ibpod-sm adds the one of each call";
  return "";
}

}  // namespace

Result<std::string> read_ufm_address(const json::Value& value) {
  const std::string text = TRY(value.string());
  // The text is not repeated: it may have a password.
  if (text.find('@') != text.npos)
    return value.wrong(
        "expected https://HOST or https://HOST:PORT, got one with a user: name the user and the "
        "file with its password as ufm.user and ufm.passwordFile");
  const Status right = https::check_address(text);
  if (right) return text;
  return value.wrong(right.error().text() + hint(text));
}

}  // namespace ibpod::sm::config
