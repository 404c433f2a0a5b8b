#include "lib/base/words.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

const Words<int> kWords{{"one", 1}, {"two", 2}, {"deux", 2}};

TEST_CASE("a word has a meaning") {
  CHECK(parse_word(kWords, "two").value() == 2);
  CHECK(parse_word(kWords, "deux").value() == 2);
  CHECK(find_word(kWords, "one") == 1);
  CHECK(word_of(kWords, 1) == "one");
  CHECK(word_of(kWords, 2) == "two");
  CHECK(word_of(kWords, 3).empty());
  for (const char* text : {"", "On", "one ", "three"}) CHECK_FALSE(find_word(kWords, text));
}

TEST_CASE("what is no word is refused with all words") {
  const Result<int> refused = parse_word(kWords, "three");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::invalid);
  CHECK(refused.error().text() == "expected one, two or deux, got \"three\"");
  CHECK(list_words(Words<int>{{"one", 1}}) == "one");
  CHECK(list_words(Words<int>{{"one", 1}, {"two", 2}}) == "one or two");
}

}  // namespace
}  // namespace ibpod
