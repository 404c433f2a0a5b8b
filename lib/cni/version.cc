#include "lib/cni/version.h"

#include "lib/base/join.h"

#include <algorithm>
#include <charconv>

namespace ibpod::cni {
namespace {

// Takes a number and, unless it is the last one, the dot behind it off the front of `text`.
bool take_number(std::string_view& text, int& number, bool last) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [after, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || *begin == '-') return false;
  if (last) return after == end;
  if (after == end || *after != '.') return false;
  text.remove_prefix(static_cast<size_t>(after - begin) + 1);
  return true;
}

}  // namespace

Result<Version> Version::parse(std::string_view text) {
  Version version;
  std::string_view rest = text;
  if (take_number(rest, version.major, false) && take_number(rest, version.minor, false) &&
      take_number(rest, version.patch, true)) {
    return version;
  }
  return Error(Code::invalid,
               "\"" + std::string(text) + "\" is not a version: expected a form such as 1.1.0");
}

std::string Version::text() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

const std::vector<Version>& supported_versions() {
  static const std::vector<Version> versions{{0, 1, 0}, {0, 2, 0}, {0, 3, 0}, {0, 3, 1},
                                             {0, 4, 0}, {1, 0, 0}, {1, 1, 0}};
  return versions;
}

bool is_supported(Version version) {
  const std::vector<Version>& all = supported_versions();
  return std::find(all.begin(), all.end(), version) != all.end();
}

std::string text(const std::vector<Version>& versions) {
  return versions.empty() ? "none" : join(versions, ", ", &Version::text);
}

}  // namespace ibpod::cni
