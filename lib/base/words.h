// Words: the words of a closed set, and what each means. A type whose values have words lists them
// in words_of(T), in its own namespace.
#pragma once

#include "lib/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ibpod {

template <typename T>
using Words = std::vector<std::pair<std::string_view, T>>;

// "limited, full or both"
template <typename T>
std::string list_words(const Words<T>& words) {
  std::string text;
  for (size_t n = 0; n < words.size(); ++n)
    text.append(n == 0 ? "" : n + 1 == words.size() ? " or " : ", ").append(words[n].first);
  return text;
}

// The whole word and nothing else.
template <typename T>
std::optional<T> find_word(const Words<T>& words, std::string_view text) {
  for (const auto& [word, meaning] : words)
    if (word == text) return meaning;
  return std::nullopt;
}

// The first word of the value; empty if it is not listed.
template <typename T>
std::string_view word_of(const Words<T>& words, T value) {
  for (const auto& [word, meaning] : words)
    if (meaning == value) return word;
  return {};
}

// invalid: "expected limited, full or both, got "most"".
template <typename T>
Result<T> parse_word(const Words<T>& words, std::string_view text) {
  if (const std::optional<T> meaning = find_word(words, text)) return *meaning;
  return Error(Code::invalid,
               "expected " + list_words(words) + ", got \"" + std::string(text) + "\"");
}

}  // namespace ibpod
