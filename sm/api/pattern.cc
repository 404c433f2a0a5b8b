#include "sm/api/pattern.h"

#include <algorithm>

namespace ibpod::sm::api {
namespace {

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// The text after CN=, DNS= or URI=; nullopt if it begins with none of them.
std::optional<std::string_view> behind_kind(std::string_view text) {
  for (const std::string_view kind : {"CN=", "DNS=", "URI="})
    if (text.starts_with(kind)) return text.substr(kind.size());
  return std::nullopt;
}

}  // namespace

Result<NamePattern> NamePattern::parse(std::string_view text) {
  const std::optional<std::string_view> name = behind_kind(text);
  if (!printable(text) || !name || name->empty()) {
    return Error(Code::invalid, "expected CN=, DNS= or URI= and a name, which may contain one *");
  }
  NamePattern pattern;
  const size_t star = text.find('*');
  pattern.before_ = text.substr(0, star);
  if (star == text.npos) return pattern;
  pattern.star_ = true;
  pattern.after_ = text.substr(star + 1);
  if (pattern.after_.find('*') != std::string::npos)
    return Error(Code::invalid, "\"" + std::string(text) + "\" has more than one *");
  return pattern;
}

std::optional<std::string> NamePattern::match(std::string_view name) const {
  if (!star_) return name == before_ ? std::optional(std::string()) : std::nullopt;
  if (name.size() <= before_.size() + after_.size()) return std::nullopt;
  if (!name.starts_with(before_) || !name.ends_with(after_)) return std::nullopt;
  return std::string(name.substr(before_.size(), name.size() - before_.size() - after_.size()));
}

bool NamePattern::matches_all() const {
  return star_ && after_.empty() && behind_kind(before_).value_or("").empty();
}

}  // namespace ibpod::sm::api
