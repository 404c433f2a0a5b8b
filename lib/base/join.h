// Lists as text: join(names, ", "), join(devices, ",", &Device::name), join(keys, " ", &PKey::text)
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace ibpod {

// Adds an item to a list that may be empty.
inline void add_item(std::string& list, std::string_view separator, std::string_view item) {
  if (!list.empty()) list += separator;
  list += item;
}

// A projection makes a string of an item, or a string_view of what the item owns.
template <typename Items, typename Projection = std::identity>
std::string join(const Items& items, std::string_view separator, Projection projection = {}) {
  std::string list;
  size_t count = 0;
  for (const auto& item : items) {
    if (count++ > 0) list += separator;
    list += std::invoke(projection, item);
  }
  return list;
}

// The first items, at most so many, and how many more there are: "a, b and 3 more".
template <typename Items, typename Projection = std::identity>
std::string join_first(size_t most, const Items& items, Projection projection = {}) {
  std::string list;
  size_t count = 0;
  for (const auto& item : items) {
    if (count++ >= most) continue;
    if (count > 1) list += ", ";
    list += std::invoke(projection, item);
  }
  return count > most ? list + " and " + std::to_string(count - most) + " more" : list;
}

}  // namespace ibpod
