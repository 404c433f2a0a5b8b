#include "lib/json/value.h"

#include <algorithm>
#include <ctime>
#include <string>

#include <doctest/doctest.h>

namespace ibpod::json {
namespace {

std::string error_of(std::string_view text) {
  const auto parsed = Value::parse(text);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code() == Code::invalid);
  return parsed.error().text();
}

TEST_CASE("a document is printed as it was read, members in their order") {
  const std::string text = R"({"z":1,"a":[true,null,"x",-5,1.5],"m":{"n":{}}})";
  CHECK(Value::parse(text).value().text() == text);
  CHECK(Value::parse("[1]").value().pretty() == "[\n  1\n]");
}

TEST_CASE("what is no JSON is refused with its place") {
  CHECK(error_of("").starts_with("JSON: parse error at line 1, column 1"));
  CHECK(error_of("{\n\"a\": nope}").starts_with("JSON: parse error at line 2, column 7"));
  for (const char* text :
       {"{", "{\"a\":1,}", "{a:1}", "nul", "1 2", "\"\xff\"", "[1e999]", "// c\n{}"}) {
    CAPTURE(text);
    error_of(text);
  }
}

TEST_CASE("comments are refused unless they are allowed") {
  const char* const text = "// all\n{/* a */\"a\": \"// none\" /**/}\n//";
  CHECK_FALSE(Value::parse(text));
  CHECK(Value::parse(text, Comments::allowed).value().text() == R"({"a":"// none"})");
  CHECK_FALSE(Value::parse("{} /*", Comments::allowed));
  CHECK_FALSE(Value::parse("# all\n{}", Comments::allowed));
  CHECK_FALSE(Value::parse(R"({"a":1,/**/"a":2})", Comments::allowed));
}

TEST_CASE("a key that is there twice is refused, wherever it stands, but not in two objects") {
  CHECK(error_of(R"({"a":1,"a":2})") == "JSON: duplicate key \"a\"");
  CHECK(error_of(R"([{"a":{"b":1,"c":2,"b":3}}])") == "JSON: duplicate key \"b\", in a");
  CHECK(error_of(R"({"x":{"y":1},"a":{"b":{"c":2,"c":3}}})") ==
        "JSON: duplicate key \"c\", in a.b");
  CHECK(Value::parse(R"({"a":{"a":1},"b":{"a":1}})"));
}

TEST_CASE("nesting has an end") {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK(Value::parse(nested(64)));
  CHECK(error_of(nested(66)) == "JSON: nested deeper than 64");
  CHECK(error_of(nested(100000)) == "JSON: nested deeper than 64");
}

// The processor time that parsing takes: the least of some times, as other programs disturb it.
std::clock_t time_of(const std::string& text, int times) {
  std::clock_t least = 0;
  for (int n = 0; n < times; ++n) {
    const std::clock_t start = std::clock();
    REQUIRE(Value::parse(text));
    const std::clock_t took = std::clock() - start;
    least = n == 0 ? took : std::min(least, took);
  }
  return least;
}

TEST_CASE("the time of parsing grows with the length of lists and objects, not with its square") {
  const auto repeated = [](size_t count, std::string_view open, std::string_view close,
                           const auto& item) {
    std::string text(open);
    for (size_t n = 0; n < count; ++n) text.append(n == 0 ? "" : ",").append(item(n));
    return text.append(close);
  };
  const auto list = [&](size_t count) {
    return repeated(count, "[", "]", [](size_t) { return std::string("{}"); });
  };
  const auto object = [&](size_t count) {
    return repeated(count, "{", "}", [](size_t n) { return '"' + std::to_string(n) + "\":1"; });
  };
  // Sixteen times as much; 256 times the time, were it the square.
  CHECK(time_of(list(16'000), 1) < 80 * time_of(list(1'000), 3));
  CHECK(time_of(object(16'000), 1) < 80 * time_of(object(1'000), 3));
}

TEST_CASE("every value knows where it stands, and says so when it is something else") {
  const Value document = Value::parse(R"({"ipam":{"type":7},"ips":[{"address":true}]})").value();
  const Value type = document.at("ipam").value().at("type").value();
  CHECK(type.path() == "ipam.type");
  CHECK(type.string().error().text() == "ipam.type: expected a string, got the number 7");
  const Value ip = document.at("ips").value().elements().value()[0];
  CHECK(ip.at("address").value().integer().error().text() ==
        "ips[0].address: expected a whole number, got true");
  CHECK(document.at("name").error().text() == "the document: the key \"name\" is missing");
  CHECK(ip.at("gateway").error().text() == "ips[0]: the key \"gateway\" is missing");
  CHECK(type.members().error().text() == "ipam.type: expected an object, got the number 7");
  CHECK(document.elements().error().text() == "the document: expected a list, got an object");
}

TEST_CASE("only a whole number within bounds is an integer") {
  const auto number = [](const char* text) { return Value::parse(text).value().integer(0, 10); };
  CHECK(number("10").value() == 10);
  for (const char* text :
       {"11", "-1", "1.0", "1e1", "18446744073709551615", "\"5\"", "true", "null"}) {
    CAPTURE(text);
    CHECK_FALSE(number(text));
  }
  CHECK(number("11").error().text() ==
        "the document: expected a whole number from 0 to 10, got the number 11");
  CHECK(Value::parse("9223372036854775807").value().integer().value() == INT64_MAX);
  CHECK_FALSE(Value::parse("9223372036854775808").value().integer());
}

TEST_CASE("null is as good as missing") {
  const Value document = Value::parse(R"({"a":null})").value();
  CHECK_FALSE(document.find("a"));
  CHECK_FALSE(document.at("a"));
  CHECK(Value().is_null());
  CHECK_FALSE(Value().find("a"));
}

TEST_CASE("a value can be built, changed and copied") {
  Value list = Value::array();
  list.push("x").push(1).push(true);
  Value document = Value::object();
  document.set("list", list).set("number", int64_t{5});
  const Value copy = document;
  document.set("number", 6U);
  CHECK(copy.text() == R"({"list":["x",1,true],"number":5})");
  CHECK(document.text() == R"({"list":["x",1,true],"number":6})");
  document.erase("list").erase("nothing");
  CHECK(document.text() == R"({"number":6})");
}

TEST_CASE("bytes that are no UTF-8 are replaced when printed") {
  CHECK(Value("a\xff").text() == "\"a\xef\xbf\xbd\"");
}

TEST_CASE("what a terminal would obey is escaped where it is printed for one") {
  CHECK(Value("\x1b[2J\x7f\xc2\x9b\xff").ascii() == R"("\u001b[2J\u007f\u009b\ufffd")");
  CHECK(Value("caf\xc3\xa9").text() == "\"caf\xc3\xa9\"");
}

}  // namespace
}  // namespace ibpod::json
