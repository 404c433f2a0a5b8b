#include "device-plugin/pf_choice.h"

#include <algorithm>
#include <charconv>

namespace ibpod::device_plugin {
namespace {

// PCI Express counts VFs with 16 bits.
constexpr uint32_t kMostVfs = 0xffff;

std::optional<uint32_t> parse_number(std::string_view digits) {
  uint32_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, number);
  if (digits.empty() || error != std::errc() || stopped != end || number > kMostVfs)
    return std::nullopt;
  return number;
}

std::optional<VfRange> parse_range(std::string_view text) {
  const size_t dash = text.find('-');
  const std::optional<uint32_t> first = parse_number(text.substr(0, dash));
  const std::optional<uint32_t> last =
      dash == text.npos ? first : parse_number(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return VfRange{*first, *last};
}

bool parse_ranges(std::string_view rest, std::vector<VfRange>& ranges) {
  while (true) {
    const size_t comma = rest.find(',');
    const std::optional<VfRange> range = parse_range(rest.substr(0, comma));
    if (!range) return false;
    ranges.push_back(*range);
    if (comma == rest.npos) return true;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<VfRange> ranges_of(const PfChoice& choice) {
  return choice.vfs.empty() ? std::vector<VfRange>{{0, kMostVfs}} : choice.vfs;
}

}  // namespace

bool PfChoice::has(uint32_t vf) const {
  if (unreadable) return false;
  return vfs.empty() || std::any_of(vfs.begin(), vfs.end(), [&](const VfRange& range) {
           return range.first <= vf && vf <= range.last;
         });
}

PfChoice parse_pf_choice(std::string_view text) {
  const size_t hash = text.find('#');
  PfChoice choice{std::string(text), std::string(text.substr(0, hash)), {}, false};
  if (hash == text.npos) return choice;
  choice.unreadable = !parse_ranges(text.substr(hash + 1), choice.vfs);
  return choice;
}

std::optional<uint32_t> common_vf(const PfChoice& one, const PfChoice& other) {
  std::optional<uint32_t> lowest;
  if (one.unreadable || other.unreadable) return lowest;
  for (const VfRange& a : ranges_of(one)) {
    for (const VfRange& b : ranges_of(other)) {
      const uint32_t first = std::max(a.first, b.first);
      if (first <= std::min(a.last, b.last) && (!lowest || first < *lowest)) lowest = first;
    }
  }
  return lowest;
}

}  // namespace ibpod::device_plugin
