#include "lib/base/printable.h"

namespace ibpod {

std::string printable(std::string_view text, size_t most) {
  constexpr std::string_view kCut = "...";
  const bool cut = text.size() > most;
  std::string shown(text.substr(0, cut ? most - kCut.size() : most));
  for (char& letter : shown)
    if (letter < ' ' || letter > '~') letter = '?';
  return cut ? shown.append(kCut) : shown;
}

}  // namespace ibpod
