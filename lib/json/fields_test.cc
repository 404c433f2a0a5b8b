#include "lib/json/fields.h"

#include <doctest/doctest.h>

namespace ibpod::json {
namespace {

Fields fields_of(const char* text) { return Fields::of(Value::parse(text).value()).value(); }

TEST_CASE("only an object has fields") {
  CHECK_FALSE(Fields::of(Value::array()));
  CHECK(Fields::of(Value::object()));
}

TEST_CASE("fields are read by type; what is missing or null is nothing") {
  Fields fields = fields_of(R"({"s":"x","b":true,"n":5,"null":null})");
  CHECK(fields.string("s").value() == "x");
  CHECK(fields.boolean("b").value() == true);
  CHECK(fields.integer("n", 0, 5).value() == 5);
  CHECK(fields.string("null").value() == std::nullopt);
  CHECK(fields.find("none").value().has_value() == false);
  CHECK(fields.string("n").error().text() == "n: expected a string, got the number 5");
  CHECK(fields.integer("n", 6, 7).error().code() == Code::invalid);
}

TEST_CASE("a key that differs only by case is taken, with a warning") {
  Fields fields = fields_of(R"({"rdmaisolation":true})");
  CHECK(fields.boolean("rdmaIsolation").value() == true);
  CHECK(fields.boolean("rdmaIsolation").value() == true);
  CHECK(fields.warnings() == std::vector<std::string>{"rdmaisolation is read as rdmaIsolation"});
}

TEST_CASE("two spellings of one key are refused, whichever comes first") {
  for (const char* text : {R"({"mtu":1,"MTU":2})", R"({"MTU":2,"mtu":1})"}) {
    Fields fields = fields_of(text);
    const auto found = fields.find("mtu");
    REQUIRE_FALSE(found);
    CHECK(found.error().text().find("differ only in case: keep \"mtu\"") != std::string::npos);
  }
}

TEST_CASE("a key that the caller never looked up is unknown, in any case") {
  Fields fields = fields_of(R"({"a":1,"B":2,"c":3})");
  (void)fields.find("a");  // a lookup is enough, found or not
  (void)fields.find("b");
  CHECK(fields.unknown() == std::vector<std::string>{"c"});
}

}  // namespace
}  // namespace ibpod::json
