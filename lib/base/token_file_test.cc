#include "lib/base/token_file.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

TEST_CASE("token file: its token without the end of its line") {
  const TempFolder folder;
  const Path file = folder.path() / "token";
  const auto read = [&](const std::string& content) {
    folder.write("token", content);
    return read_token_file(file);
  };
  CHECK(read("a.b-c_D~9+/=").value() == "a.b-c_D~9+/=");
  CHECK(read("a.b.c\n").value() == "a.b.c");
  const std::string name = file.string();
  for (const char* bad : {"a b", "a\r\n", "a\n\n", "a\nb", "\"a\"", "\xc3\xa9"}) {
    const auto refused = read(bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Code::unavailable);
    CHECK(refused.error().text() == name + ": expected one token, got other characters");
  }
  CHECK(read("\n").error().text() == name + ": expected a token, got an empty file");
  CHECK(read(std::string(7 << 10, 'a')));
  const auto large = read(std::string((7 << 10) + 1, 'a'));
  CHECK(large.error().code() == Code::unavailable);
  CHECK(large.error().text().find(name) != std::string::npos);
  std::filesystem::remove(file);
  CHECK(read_token_file(file).error().code() == Code::unavailable);
}

}  // namespace
}  // namespace ibpod
