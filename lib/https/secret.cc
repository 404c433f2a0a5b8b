#include "lib/https/secret.h"

#include <string.h>

namespace ibpod::https {

void wipe(std::string& text) {
  text.resize(text.capacity());
  ::explicit_bzero(text.data(), text.size());
  text.clear();
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  wipe(text_);
  text_ = std::move(other.text_);
  wipe(other.text_);
  return *this;
}

Secret& Secret::append(std::string_view text) {
  std::string longer;
  longer.reserve(text_.size() + text.size());
  longer.append(text_).append(text);
  text_.swap(longer);
  wipe(longer);
  return *this;
}

void Secret::strip_newline() {
  for (const char end : {'\n', '\r'})
    if (!text_.empty() && text_.back() == end) text_.pop_back();
}

}  // namespace ibpod::https
