#include "lib/base/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace ibpod {
namespace {

// A slip of the hand changes this many letters at most.
constexpr size_t kSlip = 3;

bool same(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// How many letters have to be put in, taken out or changed, or two neighbours to change places;
// case does not count.
size_t distance(std::string_view from, std::string_view to) {
  std::vector<size_t> before, above(to.size() + 1), row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t n = 1; n <= from.size(); ++n) {
    before = std::exchange(above, row);
    row[0] = n;
    for (size_t m = 1; m <= to.size(); ++m) {
      const size_t changed = above[m - 1] + (same(from[n - 1], to[m - 1]) ? 0 : 1);
      row[m] = std::min({changed, above[m] + 1, row[m - 1] + 1});
      const bool swapped =
          n > 1 && m > 1 && same(from[n - 1], to[m - 2]) && same(from[n - 2], to[m - 1]);
      if (swapped) row[m] = std::min(row[m], before[m - 2] + 1);
    }
  }
  return row.back();
}

// The nearest that is at most so far away. What is long is not worth comparing.
std::string_view within(size_t most, std::string_view name,
                        const std::vector<std::string_view>& known) {
  std::string_view best;
  if (name.size() < 2 || name.size() > 64) return best;
  size_t least = most + 1;
  for (const std::string_view candidate : known) {
    const size_t far = distance(name, candidate);
    if (far < least) best = candidate;
    least = std::min(least, far);
  }
  return best;
}

}  // namespace

std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known) {
  // Half of a short name is no slip.
  return within(std::min(kSlip, name.size() / 2), name, known);
}

std::string_view sure_slip(std::string_view name, const std::vector<std::string_view>& known) {
  return within(std::clamp(name.size() / 4, size_t{1}, size_t{2}), name, known);
}

std::string is_meant(std::string_view name, const std::vector<std::string_view>& known) {
  const std::string_view meant = nearest(name, known);
  return meant.empty() ? "" : "; did you mean \"" + std::string(meant) + "\"?";
}

}  // namespace ibpod
