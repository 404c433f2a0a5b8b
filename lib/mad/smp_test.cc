#include "lib/mad/smp.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod::mad {
namespace {

SmpRequest some_question() {
  SmpRequest question;
  question.method = Method::set;
  question.attribute = Attribute::pkey_table;
  question.modifier = 0x00070001;
  question.m_key = MKey{0x1122334455667788};
  question.data.front() = std::byte{0xaa};
  question.data.back() = std::byte{0xbb};
  return question;
}

std::vector<int> bytes(const Mad& mad, size_t from, size_t count) {
  std::vector<int> found;
  for (size_t i = from; i < from + count; ++i) found.push_back(std::to_integer<int>(mad.at(i)));
  return found;
}

// As the node would: the method gets its response bit, and on a directed route the status its
// direction bit.
Mad answered(Mad mad, uint8_t high_status = 0, uint8_t low_status = 0) {
  mad.at(3) = std::byte{0x81};
  mad.at(4) = std::byte{high_status};
  mad.at(5) = std::byte{low_status};
  return mad;
}

TEST_CASE("a question by LID, as it goes over the wire") {
  const Mad mad = encode(some_question(), *Route::to(4), 0xc0ffee01);
  CHECK(bytes(mad, 0, 8) == std::vector<int>{1, 0x01, 1, 0x02, 0, 0, 0, 0});
  CHECK(bytes(mad, 8, 8) == std::vector<int>{0, 0, 0, 0, 0xc0, 0xff, 0xee, 0x01});
  CHECK(bytes(mad, 16, 8) == std::vector<int>{0, 0x16, 0, 0, 0, 7, 0, 1});
  CHECK(bytes(mad, 24, 8) == std::vector<int>{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88});
  CHECK(bytes(mad, 32, 4) == std::vector<int>{0, 0, 0, 0});
  CHECK(bytes(mad, 64, 1) == std::vector<int>{0xaa});
  CHECK(bytes(mad, 127, 3) == std::vector<int>{0xbb, 0, 0});
}

TEST_CASE("a directed question has its path behind the data, from the second place on") {
  const Mad mad = encode(some_question(), *Route::along({1, 7}), 1);
  CHECK(bytes(mad, 0, 8) == std::vector<int>{1, 0x81, 1, 0x02, 0, 0, 0, 2});
  CHECK(bytes(mad, 32, 4) == std::vector<int>{0xff, 0xff, 0xff, 0xff});
  CHECK(bytes(mad, 128, 4) == std::vector<int>{0, 1, 7, 0});
}

TEST_CASE("the longest path fits") {
  const Mad mad = encode(some_question(), *Route::along(std::vector<uint8_t>(63, 9)), 1);
  CHECK(bytes(mad, 190, 3) == std::vector<int>{9, 9, 0});
}

TEST_CASE("an answer says what was asked, and the data") {
  const auto answer = parse_response(answered(encode(some_question(), *Route::to(4), 77)));
  REQUIRE(answer);
  CHECK(!answer->directed);
  CHECK(answer->attribute == Attribute::pkey_table);
  CHECK(answer->modifier == 0x00070001);
  CHECK(answer->transaction == 77);
  CHECK(answer->status == 0);
  CHECK(answer->data == some_question().data);
}

TEST_CASE("the direction bit of a directed answer is no status") {
  const Mad mad = encode(some_question(), *Route::along({1}), 77);
  CHECK(parse_response(answered(mad, 0x80, 0x1c))->status == kStatusBadValue);
  CHECK(parse_response(answered(mad, 0x80, 0))->directed);
  const Mad by_lid = encode(some_question(), *Route::to(1), 77);
  CHECK(parse_response(answered(by_lid, 0x80, 0))->status == 0x8000);
}

TEST_CASE("what is no answer of subnet management is refused") {
  const Mad good = answered(encode(some_question(), *Route::to(4), 77));
  for (const size_t at : {0U, 1U, 2U, 3U}) {
    CAPTURE(at);
    Mad bad = good;
    bad.at(at) = std::byte{0x05};
    CHECK(!parse_response(bad));
  }
  CHECK(!parse_response(encode(some_question(), *Route::to(4), 77)));  // a question
  CHECK(!parse_response(Mad{}));
}

TEST_CASE("statuses in words") {
  CHECK(status_text(kStatusBusy) == "busy");
  CHECK(status_text(kStatusBadValue) == "invalid value");
  CHECK(status_text(0x0100) == "status 0x100");
}

}  // namespace
}  // namespace ibpod::mad
