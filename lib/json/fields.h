// Fields: reads an object of a configuration, and tells which of its keys nobody asked for.
#pragma once

#include "lib/json/value.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::json {

// A key is matched exactly first. One that differs only by case is taken too (the Go plugins that
// these configurations were written for do so: to ignore "rdmaisolation" would lose isolation) and
// noted as a warning; both spellings in one object are refused.
class Fields {
 public:
  // invalid where `object` is none.
  static Result<Fields> of(const Value& object);

  // Nothing where the key is missing or null.
  Result<std::optional<Value>> find(std::string_view key);
  Result<std::optional<std::string>> string(std::string_view key);
  Result<std::optional<bool>> boolean(std::string_view key);
  Result<std::optional<int64_t>> integer(std::string_view key, int64_t least, int64_t most);

  // What was taken under another spelling: "rdmaisolation is read as rdmaIsolation".
  const std::vector<std::string>& warnings() const { return warnings_; }
  // The keys that no call above has asked for.
  std::vector<std::string> unknown() const;
  // Of an unknown one, once all others have been asked for: "; did you mean "listen"?", or all that
  // were asked for: ", expected one of fabric, stateDir".
  std::string instead_of(const std::string& key) const;
  // Of an unknown one: "; did you mean "listen"?", or nothing where none is near.
  std::string meant_by(const std::string& key) const;
  // The same where hardly anything else can be meant (base/nearest.h).
  std::string sure_slip_of(const std::string& key) const;

 private:
  struct Member {
    std::string key;
    Value value;
    bool asked = false;
  };
  explicit Fields(std::vector<Member> members) : members_(std::move(members)) {}
  std::vector<Member> members_;
  std::vector<std::string> warnings_;
  std::vector<std::string> known_;
};

}  // namespace ibpod::json
