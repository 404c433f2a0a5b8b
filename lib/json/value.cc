#include "lib/json/value.h"

#include "lib/json/strict_parser.h"

#include <nlohmann/json.hpp>

namespace ibpod::json {

using Json = nlohmann::ordered_json;

// NOLINTNEXTLINE(bugprone-exception-escape): the library's move only asserts
struct Value::Node {
  Json json;
};

namespace {

std::string describe(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "the string " + json.dump(-1, ' ', false, Json::error_handler_t::replace);
    case Json::value_t::boolean:
      return json.get<bool>() ? "true" : "false";
    default:
      return "the number " + json.dump();
  }
}

}  // namespace

Result<Value> Value::parse(std::string_view text, Comments comments) {
  auto json = TRY(parse_strictly(text, comments == Comments::allowed));
  return Value(std::make_unique<Node>(Node{std::move(json)}), "");
}

Value Value::object() { return Value(std::make_unique<Node>(Node{Json::object()}), ""); }
Value Value::array() { return Value(std::make_unique<Node>(Node{Json::array()}), ""); }
Value::Value() : node_(std::make_unique<Node>()) {}
Value::Value(const Value& other)
    : node_(std::make_unique<Node>(*other.node_)), path_(other.path_) {}
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value& other) { return *this = Value(other); }
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;
Value::Value(std::string_view text) : node_(std::make_unique<Node>(Node{Json(text)})) {}
Value::Value(bool boolean) : node_(std::make_unique<Node>(Node{Json(boolean)})) {}
Value::Value(int64_t number) : node_(std::make_unique<Node>(Node{Json(number)})) {}
Value::Value(std::unique_ptr<Node> node, std::string path)
    : node_(std::move(node)), path_(std::move(path)) {}

bool Value::is_null() const { return node_->json.is_null(); }
bool Value::is_object() const { return node_->json.is_object(); }
bool Value::is_array() const { return node_->json.is_array(); }
bool Value::is_string() const { return node_->json.is_string(); }
bool Value::is_number() const { return node_->json.is_number(); }

Error Value::wrong(std::string_view text) const {
  return Error(Code::invalid, (path_.empty() ? "the document" : path_) + ": " + std::string(text));
}

Error Value::mismatch(std::string_view expected) const {
  return wrong("expected " + std::string(expected) + ", got " + describe(node_->json));
}

Result<std::string> Value::string() const {
  if (!is_string()) return mismatch("a string");
  return node_->json.get<std::string>();
}

Result<bool> Value::boolean() const {
  if (!node_->json.is_boolean()) return mismatch("true or false");
  return node_->json.get<bool>();
}

Result<int64_t> Value::integer() const {
  const Json& json = node_->json;
  const bool too_large = json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX;
  if (!json.is_number_integer() || too_large) return mismatch("a whole number");
  return json.get<int64_t>();
}

Result<int64_t> Value::integer(int64_t least, int64_t most) const {
  const int64_t number = TRY(integer());
  if (number < least || number > most) {
    return mismatch("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

Result<std::vector<Value>> Value::elements() const {
  if (!is_array()) return mismatch("a list");
  std::vector<Value> elements;
  for (const Json& element : node_->json) {
    const std::string path = path_ + "[" + std::to_string(elements.size()) + "]";
    elements.push_back(Value(std::make_unique<Node>(Node{element}), path));
  }
  return elements;
}

Result<std::vector<std::pair<std::string, Value>>> Value::members() const {
  if (!is_object()) return mismatch("an object");
  std::vector<std::pair<std::string, Value>> members;
  for (const auto& [key, member] : node_->json.items()) {
    const std::string path = path_.empty() ? key : path_ + "." + key;
    members.emplace_back(key, Value(std::make_unique<Node>(Node{member}), path));
  }
  return members;
}

std::optional<Value> Value::find(std::string_view key) const {
  if (!is_object()) return std::nullopt;
  const auto found = node_->json.find(std::string(key));
  if (found == node_->json.end() || found->is_null()) return std::nullopt;
  const std::string path = path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  return Value(std::make_unique<Node>(Node{*found}), path);
}

Result<Value> Value::at(std::string_view key) const {
  if (!is_object()) return mismatch("an object");
  std::optional<Value> found = find(key);
  if (!found) return wrong("the key \"" + std::string(key) + "\" is missing");
  return std::move(*found);
}

Value& Value::set(std::string_view key, Value value) {
  node_->json[std::string(key)] = std::move(value.node_->json);
  return *this;
}

Value& Value::erase(std::string_view key) {
  node_->json.erase(std::string(key));
  return *this;
}

Value& Value::push(Value value) {
  node_->json.push_back(std::move(value.node_->json));
  return *this;
}

std::string Value::text() const {
  return node_->json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Value::ascii() const {
  return node_->json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string Value::pretty() const {
  return node_->json.dump(2, ' ', true, Json::error_handler_t::replace);
}

}  // namespace ibpod::json
