// Versions of the CNI specification.
#pragma once

#include "lib/base/result.h"

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::cni {

struct Version {
  int major = 0, minor = 0, patch = 0;
  // Exactly three numbers: 1.1.0.
  static Result<Version> parse(std::string_view text);
  std::string text() const;
  auto operator<=>(const Version&) const = default;
};

inline constexpr Version kNewest{1, 1, 0};
// The version of a configuration without cniVersion (libcni's reading).
inline constexpr Version kUnnamed{0, 1, 0};

// All that our plugins speak: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0.
const std::vector<Version>& supported_versions();
bool is_supported(Version version);

// "0.4.0, 1.0.0"; "none" where there is none.
std::string text(const std::vector<Version>& versions);

}  // namespace ibpod::cni
