// Namespaces whose pods are allowed something, as an administrator names them.
#pragma once

#include "lib/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace ibpod::fabric {

// As in cluster_names.h; "*" is any of its cluster: "dev/*". Empty: no namespace is allowed.
using Namespaces = std::vector<std::string>;

// invalid, naming the first that can be no namespace.
Status check(const Namespaces& namespaces);
bool contains(const Namespaces& namespaces, std::string_view name_space);

}  // namespace ibpod::fabric
