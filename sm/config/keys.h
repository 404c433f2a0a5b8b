// Keys: an object of the file. Reads its keys one by one, and collects the errors.
#pragma once

#include "lib/json/read.h"

#include <functional>
#include <optional>
#include <string_view>

namespace ibpod::sm::config {

// Its end adds an error for each key that no call asked for.
class Keys {
 public:
  Keys(const json::Value& value, Errors& errors) : value_(value), errors_(errors) {
    Result<json::Fields> fields = json::Fields::of(value);
    if (fields)
      fields_ = *std::move(fields);
    else
      errors_.collect(fields.error());
  }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;
  Keys(Keys&&) = delete;
  Keys& operator=(Keys&&) = delete;
  ~Keys() {
    if (fields_) errors_.collect(refuse_unknown(value_, *fields_));
  }

  // False: it is no object, which is an error already.
  bool readable() const { return fields_.has_value(); }
  template <typename Target, typename Read>
  Keys& take(std::string_view key, Target& target, const Read& read) {
    if (fields_) errors_.collect(json::take(*fields_, key, target, read));
    return *this;
  }
  template <typename Target>
  Keys& take(std::string_view key, Target& target) {
    if (fields_) errors_.collect(json::take(*fields_, key, target));
    return *this;
  }
  // Reads a subsection, if there is one.
  Keys& within(std::string_view key, const std::function<void(Keys&)>& read) {
    if (!fields_) return *this;
    const Result<std::optional<json::Value>> value = fields_->find(key);
    if (!value) {
      errors_.collect(value.error());
    } else if (*value) {
      Keys section(**value, errors_);
      read(section);
    }
    return *this;
  }

 private:
  const json::Value& value_;
  Errors& errors_;
  std::optional<json::Fields> fields_;
};

}  // namespace ibpod::sm::config
