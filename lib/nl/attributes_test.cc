#include "lib/nl/attributes.h"

#include "lib/nl/message.h"

#include <algorithm>
#include <array>

#include <doctest/doctest.h>

namespace ibpod::nl {
namespace {

Bytes behind_header(const Message& message) { return message.encoded().subspan(16); }

TEST_CASE("attributes come in their order, repeated ones too, without the padding") {
  Message message("test", 20, 0);
  message.u8(1, 7).text(2, "net1").u8(1, 8);
  const auto found = attributes(behind_header(message));
  REQUIRE(found.ok());
  REQUIRE(found->size() == 3);
  CHECK(found->at(0).type == 1);
  CHECK(*value_of<uint8_t>(found->at(0)) == 7);
  CHECK(text_of(found->at(1)) == "net1");
  CHECK(*value_of<uint8_t>(found->at(2)) == 8);
}

TEST_CASE("the flag bits of a nest do not count as its type") {
  Message message("test", 20, 0);
  message.open(18).u32(1, 5).close();
  const auto found = attributes(behind_header(message));
  REQUIRE(found.ok());
  REQUIRE(found->size() == 1);
  CHECK(found->at(0).type == 18);
  const auto nested = attributes(found->at(0).value);
  REQUIRE(nested.ok());
  CHECK(*value_of<uint32_t>(nested->at(0)) == 5);
}

TEST_CASE("no bytes are no attributes") { CHECK(attributes({})->empty()); }

TEST_CASE("an attribute that ends beyond the bytes is refused, wherever it is cut") {
  Message message("test", 20, 0);
  message.u32(1, 7).text(2, "net1");
  const Bytes whole = behind_header(message);
  const std::array<size_t, 3> between{0, 8, whole.size()};
  // The last text takes 9 bytes of 12: its padding may be missing.
  for (size_t size = 0; size + 3 < whole.size(); ++size) {
    CAPTURE(size);
    const bool complete = std::find(between.begin(), between.end(), size) != between.end();
    CHECK(attributes(whole.first(size)).ok() == complete);
  }
}

TEST_CASE("an attribute shorter than its own header is refused") {
  const std::array<uint16_t, 2> header{3, 1};
  const auto found = attributes(std::as_bytes(std::span(header)));
  REQUIRE(!found.ok());
  CHECK(found.error().code() == Code::invalid);
}

TEST_CASE(
    "a value that is too short for its type is refused, a longer one is read from the front") {
  const std::array<uint16_t, 2> bytes{1, 0};
  CHECK(!value_of<uint64_t>({1, std::as_bytes(std::span(bytes))}).ok());
  CHECK(*value_of<uint16_t>({1, std::as_bytes(std::span(bytes))}) == 1);
}

TEST_CASE("a text ends at its NUL, or where its bytes end") {
  const std::string_view with = std::string_view("a\0b", 3);
  CHECK(text_of({1, std::as_bytes(std::span(with))}) == "a");
  CHECK(text_of({1, std::as_bytes(std::span(with)).first(1)}) == "a");
  CHECK(text_of({1, {}}) == "");
}

}  // namespace
}  // namespace ibpod::nl
