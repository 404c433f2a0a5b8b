// read<T>: a value of a configuration as a T. Errors have the value's path, what would be right and
// the value: "logLevel: expected debug, info, warning or error, got "loud"".
#pragma once

#include "lib/base/files.h"
#include "lib/base/words.h"
#include "lib/json/fields.h"

#include <concepts>
#include <set>
#include <string>
#include <vector>

namespace ibpod::json {

template <typename T>
Result<T> read_word(const Value& value, const Words<T>& words) {
  const std::string word = TRY(value.string());
  if (const std::optional<T> meaning = find_word(words, word)) return *meaning;
  return value.wrong("expected " + list_words(words) + ", got " + value.text());
}

// A string by its parser: Result<T> (std::string_view).
template <typename Parse>
auto read_parsed(const Value& value, const Parse& parse) -> decltype(parse(std::string_view())) {
  const std::string text = TRY(value.string());
  auto parsed = parse(text);
  if (!parsed) return value.wrong(parsed.error().text());
  return parsed;
}

// Absolute, and without "." and "..", so that two spellings of one path do not pass for two paths.
Result<Path> read_path(const Value& value);

// The elements of the lists that read() makes.
template <typename T>
struct ElementOf {};
template <typename T>
struct ElementOf<std::vector<T>> {
  using Type = T;
};
template <typename T>
struct ElementOf<std::set<T>> {
  using Type = T;
};
template <typename T>
concept List = requires {
  typename ElementOf<T>::Type;
};
template <typename T>
concept HasWords = requires(T value) {
  words_of(value);
};

// Reads true and false, strings, paths, types with words_of() or a static parse(), and lists of
// those.
template <typename T>
Result<T> read(const Value& value) {
  if constexpr (std::same_as<T, bool>) {
    return value.boolean();
  } else if constexpr (std::same_as<T, std::string>) {
    return value.string();
  } else if constexpr (std::same_as<T, Path>) {
    return read_path(value);
  } else if constexpr (List<T>) {
    const std::vector<Value> elements = TRY(value.elements());
    T items;
    for (const Value& element : elements) {
      auto item = TRY(read<typename ElementOf<T>::Type>(element));
      items.insert(items.end(), std::move(item));
    }
    return items;
  } else if constexpr (HasWords<T>) {
    return read_word(value, words_of(T()));
  } else {
    return read_parsed(value, &T::parse);
  }
}

// Reads an optional key as what the target holds.
template <typename T>
Status take(Fields& fields, std::string_view key, T& target) {
  return take(fields, key, target, read<T>);
}
template <typename T>
Status take(Fields& fields, std::string_view key, std::optional<T>& target) {
  return take(fields, key, target, read<T>);
}

}  // namespace ibpod::json
