#include "lib/https/secret.h"

#include <string>
#include <utility>

#include <doctest/doctest.h>

namespace ibpod::https {
namespace {

TEST_CASE("wiping overwrites the memory of a text, short or long") {
  for (const size_t size : {size_t{5}, size_t{500}}) {
    CAPTURE(size);
    std::string text(size, 's');
    const char* const memory = text.data();
    wipe(text);
    CHECK(text.empty());
    // The text keeps its memory.
    REQUIRE(text.data() == memory);
    CHECK(std::string(memory, size) == std::string(size, '\0'));
  }
}

TEST_CASE("a secret that is moved leaves nothing where it was") {
  std::string text = "short";
  const char* const place = text.data();  // inside the object
  Secret first(std::move(text));
  CHECK(first.text() == "short");
  CHECK(*place == '\0');
  Secret second(std::move(first));
  CHECK(second.text() == "short");
  CHECK(first.empty());  // NOLINT(bugprone-use-after-move): that is asked
  Secret third(std::string("other"));
  third = std::move(second);
  CHECK(third.text() == "short");
  CHECK(second.empty());  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("a secret is appended to, and loses one end of line") {
  Secret secret;
  CHECK(secret.empty());
  secret.append("user").append(":").append(std::string(100, 'p'));
  CHECK(secret.text() == "user:" + std::string(100, 'p'));
  const auto stripped = [](std::string text) {
    Secret line(std::move(text));
    line.strip_newline();
    return line.text();
  };
  CHECK(stripped("a\n") == "a");
  CHECK(stripped("a\r\n") == "a");
  CHECK(stripped("a\n\n") == "a\n");
  CHECK(stripped("a ") == "a ");
  CHECK(stripped("\n").empty());
  CHECK(stripped("").empty());
}

}  // namespace
}  // namespace ibpod::https
