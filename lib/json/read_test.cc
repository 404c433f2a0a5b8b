#include "lib/json/read.h"

#include <doctest/doctest.h>

namespace ibpod::json {
namespace {

enum class Color { red, blue };
Words<Color> words_of(Color) { return {{"red", Color::red}, {"blue", Color::blue}}; }

struct Even {
  size_t size = 0;
  static Result<Even> parse(std::string_view text) {
    if (text.size() % 2 == 0) return Even{text.size()};
    return Error(Code::invalid, "\"" + std::string(text) + "\" is odd");
  }
};

Value value_of(const std::string& text) {
  return Value::parse(R"({"key": )" + text + "}").value().at("key").value();
}

template <typename T>
std::string refusal(const std::string& text) {
  const Result<T> read_value = read<T>(value_of(text));
  REQUIRE_FALSE(read_value);
  CHECK(read_value.error().code() == Code::invalid);
  return read_value.error().text();
}

TEST_CASE("values by their type") {
  CHECK(read<bool>(value_of("true")).value());
  CHECK(read<std::string>(value_of("\"a\"")).value() == "a");
  CHECK(read<Color>(value_of("\"blue\"")).value() == Color::blue);
  CHECK(read<Even>(value_of("\"ab\"")).value().size == 2);
  CHECK(read<std::vector<Color>>(value_of(R"(["blue", "red"])")).value() ==
        std::vector{Color::blue, Color::red});
  CHECK(read<std::set<std::string>>(value_of(R"(["b", "a", "b"])")).value() ==
        std::set<std::string>{"a", "b"});
}

TEST_CASE("what is wrong with a value, and where") {
  CHECK(refusal<bool>("1") == "key: expected true or false, got the number 1");
  CHECK(refusal<std::string>("1") == "key: expected a string, got the number 1");
  CHECK(refusal<Color>("\"Red\"") == "key: expected red or blue, got \"Red\"");
  CHECK(refusal<Color>("1") == "key: expected a string, got the number 1");
  CHECK(refusal<Even>("\"abc\"") == "key: \"abc\" is odd");
  CHECK(refusal<std::vector<Color>>(R"(["blue", "green"])") ==
        "key[1]: expected red or blue, got \"green\"");
  CHECK(refusal<std::set<Color>>(R"("blue")") == "key: expected a list, got the string \"blue\"");
}

TEST_CASE("paths are absolute and have one spelling") {
  for (const char* good : {"\"/a\"", "\"/a/\"", "\"/a/b.c\"", "\"/\""}) {
    CAPTURE(good);
    CHECK(read<Path>(value_of(good)));
  }
  CHECK(read<Path>(value_of("\"/a/\"")).value().native() == "/a");
  for (const char* bad :
       {"\"\"", "\"a\"", "\"/a/../b\"", "\"/a/./b\"", "\"//a\"", "\"/a//b\"", "\"/a\\u0000\""}) {
    CAPTURE(bad);
    CHECK(refusal<Path>(bad) ==
          "key: expected an absolute path without \".\" and \"..\", got " + std::string(bad));
  }
}

TEST_CASE("a key that is missing leaves its target alone") {
  const Value document = Value::parse(R"({"color": "blue", "even": null})").value();
  Fields fields = Fields::of(document).value();
  std::optional<Color> color, none;
  Even even{4};
  CHECK(take(fields, "color", color));
  CHECK(take(fields, "another", none));
  CHECK(take(fields, "even", even));
  CHECK(color == Color::blue);
  CHECK_FALSE(none);
  CHECK(even.size == 4);
}

}  // namespace
}  // namespace ibpod::json
