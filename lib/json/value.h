// JSON as typed values that know where they stand, so that every error can name its place:
// "ipam.type: expected a string, got the number 7".
#pragma once

#include "lib/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ibpod::json {

// Whether // and /* */ may stand between the tokens, as in a file that people write.
enum class Comments { refused, allowed };

// A value is copied deeply; members keep the order they were given in.
class Value {
 public:
  // Reads a whole document. invalid, with line and column, for anything that is no JSON, for a key
  // that one object holds twice, and for nesting deeper than 64.
  static Result<Value> parse(std::string_view text, Comments comments = Comments::refused);

  static Value object();
  static Value array();
  Value();  // null
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  // NOLINTBEGIN(google-explicit-constructor): set("name", "net1")
  Value(std::string_view text);
  Value(const std::string& text) : Value(std::string_view(text)) {}
  Value(const char* text) : Value(std::string_view(text)) {}
  Value(bool boolean);
  Value(int64_t number);
  Value(int number) : Value(static_cast<int64_t>(number)) {}
  Value(uint32_t number) : Value(static_cast<int64_t>(number)) {}
  Value(uint64_t number) = delete;  // does not fit: store it as text
  // NOLINTEND(google-explicit-constructor)

  // Where it stands in its document: "", "ipam.type", "ips[1].address".
  const std::string& path() const { return path_; }

  bool is_null() const;
  bool is_object() const;
  bool is_array() const;
  bool is_string() const;
  bool is_number() const;

  // invalid, naming the path, what was expected and what is there, for every other type. A number
  // is an integer only without a fraction and within 64 bits.
  Result<std::string> string() const;
  Result<bool> boolean() const;
  Result<int64_t> integer() const;
  Result<int64_t> integer(int64_t least, int64_t most) const;
  Result<std::vector<Value>> elements() const;
  Result<std::vector<std::pair<std::string, Value>>> members() const;

  // A member of an object; nothing where it is missing, null, or this is no object.
  std::optional<Value> find(std::string_view key) const;
  // A member that has to be there: invalid else.
  Result<Value> at(std::string_view key) const;

  // This must be an object, or for push() an array. What is erased need not be there.
  Value& set(std::string_view key, Value value);
  Value& erase(std::string_view key);
  Value& push(Value value);

  // Compact, on one line. Bytes that are no UTF-8 are replaced.
  std::string text() const;
  // The same in printable ASCII alone, for logs and terminals: whatever else a string has is
  // escaped, also DEL and the control characters above U+007F, which terminals obey.
  std::string ascii() const;
  // As a person likes to read it, in printable ASCII too.
  std::string pretty() const;

  // An error about this value: "PATH: TEXT".
  Error wrong(std::string_view text) const;

 private:
  struct Node;
  explicit Value(std::unique_ptr<Node> node, std::string path);
  Error mismatch(std::string_view expected) const;
  std::unique_ptr<Node> node_;
  std::string path_;
};

}  // namespace ibpod::json
