// The published schema and document say what the parser does.
#include "agent/config/config_keys.h"
#include "lib/base/files.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod::agent::config {
namespace {

json::Value schema() {
  return json::Value::parse(read_file("docs/agent-config.schema.json").value()).value();
}

json::Value settings() {
  return schema().at("$defs").value().at("settings").value().at("properties").value();
}

std::vector<std::string> names_of(const json::Value& object) {
  std::vector<std::string> names;
  const auto members = object.members().value();
  for (const auto& [name, value] : members) names.push_back(name);
  return names;
}

// The value of `word` in a schema, or in the definition that it refers to.
std::optional<json::Value> says(const json::Value& property, std::string_view word) {
  if (const auto own = property.find(word)) return own;
  const auto reference = property.find("$ref");
  if (!reference) return std::nullopt;
  const std::string name = reference->string().value().substr(std::string("#/$defs/").size());
  return schema().at("$defs").value().at(name).value().find(word);
}

bool takes(const Key& key, const json::Value& value) {
  Config config;
  return key.read(value, config).ok();
}

TEST_CASE("the schema has the parser's keys, in its order") {
  std::vector<std::string> known;
  for (const Key& key : config_keys()) known.emplace_back(key.name);
  CHECK(names_of(settings()) == known);
}

TEST_CASE("the schema's defaults are the parser's") {
  for (const Key& key : config_keys()) {
    CAPTURE(key.name);
    const auto value = settings().at(key.name).value().find("default");
    Config config;
    if (value) CHECK(key.read(*value, config));
    CHECK(key.same(config, Config()));
    CHECK(value.has_value() == (key.name != "podResourcesSocket"));
  }
}

TEST_CASE("the schema's words and bounds are the parser's") {
  for (const Key& key : config_keys()) {
    CAPTURE(key.name);
    const json::Value property = settings().at(key.name).value();
    if (const auto words = says(property, "enum")) {
      const auto list = words->elements().value();
      for (const json::Value& word : list) CHECK((word.is_null() || takes(key, word)));
      CHECK_FALSE(takes(key, "anything else"));
    }
    for (const auto& [word, beyond] : {std::pair("minimum", -1), std::pair("maximum", 1)}) {
      const auto bound = says(property, word);
      if (!bound) continue;
      CHECK(takes(key, *bound));
      CHECK_FALSE(takes(key, bound->integer().value() + beyond));
    }
  }
}

TEST_CASE("the schema's types are the parser's") {
  const std::pair<std::string, json::Value> examples[] = {
      {"string", "/a"}, {"boolean", true}, {"integer", 60}, {"array", json::Value::array()}};
  for (const Key& key : config_keys()) {
    const auto types = says(settings().at(key.name).value(), "type");
    if (!types) continue;  // an enum
    const std::string type = types->elements().value()[0].string().value();
    for (const auto& [name, example] : examples) {
      CAPTURE(key.name);
      CAPTURE(name);
      if (name != type) CHECK_FALSE(takes(key, example));
    }
  }
}

TEST_CASE("the document's table has every key, with its default and whether it needs a restart") {
  const std::string document = read_file("docs/agent-config.md").value();
  for (const Key& key : config_keys()) {
    CAPTURE(key.name);
    const size_t start = document.find("\n| `" + std::string(key.name) + "` |");
    REQUIRE(start != document.npos);
    const std::string row = document.substr(start + 1, document.find('\n', start + 1) - start - 1);
    CHECK(row.ends_with(key.effect == Effect::restart ? "| restart |" : "| at once |"));
    const auto value = settings().at(key.name).value().find("default");
    if (!value) continue;
    const std::string text = value->is_string() ? value->string().value() : value->text();
    CHECK((text.empty() || row.find("| `" + text + "` |") != row.npos));
  }
}

}  // namespace
}  // namespace ibpod::agent::config
