// Namespaces whose pods are allowed something, as an administrator names them.
#pragma once

#include "lib/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace ibpod::fabric {

// Each is a namespace, or "*" for any, of the default cluster; or of another one or of any, with
// its name or "*" in front (cluster_names.h): "dev/team-a", "dev/*", "*/shared". Empty: no
// namespace is allowed.
using Namespaces = std::vector<std::string>;

// invalid, naming the first that can be no namespace.
Status check(const Namespaces& namespaces);
bool contains(const Namespaces& namespaces, std::string_view name_space);

}  // namespace ibpod::fabric
