#include "lib/rpc/parts.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::rpc {
namespace {

// message { repeated Item items = 1; repeated uint32 numbers = 2; string text = 3; }
// message Item { repeated string words = 5; }
constexpr std::array<Part, 1> kItem{{{5, "items.words", 3}}};
constexpr std::array<Part, 2> kMessage{
    {{1, "items", 2, kItem}, {2, "numbers", 4, {}, Part::Kind::numbers}}};

std::string told(const Status& status) { return status ? "ok" : status.error().text(); }

std::string check(const std::string& bytes) {
  std::vector<grpc::Slice> slices{grpc::Slice(bytes)};
  const std::string whole = told(check_parts(grpc::ByteBuffer(slices.data(), 1), kMessage));
  slices.clear();
  for (const char byte : bytes) slices.emplace_back(&byte, 1);
  CHECK_MESSAGE(
      told(check_parts(grpc::ByteBuffer(slices.data(), slices.size()), kMessage)) == whole,
      "however they have come");
  return whole;
}

std::string times(int count, const std::string& bytes) {
  std::string all;
  for (int n = 0; n < count; ++n) all += bytes;
  return all;
}

const std::string kItemOf0("\x0a\0", 2), kWord("\x2a\0", 2), kText("\x1a\x02\x0a\x0a", 4);

TEST_CASE("parts: as many as may come, wherever they stand in the message") {
  CHECK(check(std::string()) == "ok");
  CHECK(check(kItemOf0 + kText + kItemOf0) == "ok");
  CHECK(check(times(3, kItemOf0)) == "items: expected at most 2 items, got more");
  CHECK(check("\x0a\x06" + times(3, kWord)) == "ok");
  const std::string two = "\x0a\x04" + times(2, kWord);
  CHECK_MESSAGE(check(two + two) == "items.words: expected at most 3 items, got more",
                "of all items together");
  CHECK_MESSAGE(check(times(1000, kText)) == "ok", "the last one counts, and the others are gone");
}

TEST_CASE("parts: numbers, each for itself and many in one") {
  CHECK(check(times(4, "\x10\x01")) == "ok");
  CHECK(check(times(5, "\x10\x01")) == "numbers: expected at most 4 items, got more");
  CHECK(check(std::string("\x12\x05\x80\x01\x01\x00\x01", 7)) == "ok");
  CHECK(check(std::string("\x12\x05\x01\x01\x01\x00\x01", 7)) ==
        "numbers: expected at most 4 items, got more");
  CHECK(check("\x12\x03\x01\x01\x01" + times(2, "\x10\x01")) ==
        "numbers: expected at most 4 items, got more");
}

TEST_CASE("parts: what is no message is refused before anybody parses it") {
  const std::string no = "the request is not a valid message of this method";
  for (const std::string& bytes :
       {std::string("\x0a"), std::string("\x0a\x01"), std::string("\x0a\x03\x2a\x00", 4),
        std::string("\x0a\x02\x2a\x01", 4), std::string("\x0a\x01\x2a\x00", 4), std::string("\x0c"),
        std::string("\x12\x02\x01"), std::string("\x10"), std::string("\x0f"), std::string("\0", 1),
        std::string("\x1a\x05"), std::string("\x0a\xff\xff\xff\xff\x0f"), std::string(12, '\xff'),
        std::string("\x0b\x0a\x00", 3)})
    CHECK_MESSAGE(check(bytes) == no, bytes.size());
  CHECK(check(std::string("\x0b\x0c")) == "ok");  // a group, which no parser keeps as an item
  CHECK(told(check_parts(grpc::ByteBuffer(), kMessage)) == no);
}

}  // namespace
}  // namespace ibpod::rpc
