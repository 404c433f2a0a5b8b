// JSON as typed values that know their path in the document, so that every error names it:
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

// Selects if // and /* */ comments are accepted, as in files that people write.
enum class Comments { refused, allowed };

// A copy is deep; members keep their order.
class Value {
 public:
  // Parses a whole document. invalid, with line and column, for anything that is not JSON, for a
  // duplicate key, and for nesting deeper than 64.
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

  // The path in the document: "", "ipam.type", "ips[1].address".
  const std::string& path() const { return path_; }

  bool is_null() const;
  bool is_object() const;
  bool is_array() const;
  bool is_string() const;
  bool is_number() const;

  // invalid, with the path, the expected and the actual value, if the type is another one. A number
  // is an integer only without a fraction and within 64 bits.
  Result<std::string> string() const;
  Result<bool> boolean() const;
  Result<int64_t> integer() const;
  Result<int64_t> integer(int64_t least, int64_t most) const;
  Result<std::vector<Value>> elements() const;
  Result<std::vector<std::pair<std::string, Value>>> members() const;

  // A member of an object; nothing if it is missing or null, or if this is not an object.
  std::optional<Value> find(std::string_view key) const;
  // A required member: invalid if it is missing.
  Result<Value> at(std::string_view key) const;

  // This must be an object, or an array for push(). erase() of a missing key does nothing.
  Value& set(std::string_view key, Value value);
  Value& erase(std::string_view key);
  Value& push(Value value);

  // Compact, on one line. Invalid UTF-8 is replaced.
  std::string text() const;
  // The same in printable ASCII, for logs and terminals: all other characters are escaped, also DEL
  // and U+0080 to U+009F, which terminals obey.
  std::string ascii() const;
  // Indented, in printable ASCII.
  std::string pretty() const;

  // An Error about this value: "PATH: TEXT".
  Error wrong(std::string_view text) const;

 private:
  struct Node;
  explicit Value(std::unique_ptr<Node> node, std::string path);
  Error mismatch(std::string_view expected) const;
  std::unique_ptr<Node> node_;
  std::string path_;
};

}  // namespace ibpod::json
