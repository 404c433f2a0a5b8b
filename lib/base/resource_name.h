// The name of an extended resource, PREFIX/NAME, by the rules of Kubernetes (IsExtendedResourceName
// in its pkg/apis/core/v1/helper). Each check returns invalid, with the reason.
#pragma once

#include "lib/base/result.h"

#include <string_view>

namespace ibpod {

// A DNS subdomain of at most 244 characters: Kubernetes puts "requests." before it in quotas. It
// neither ends with "kubernetes.io" nor begins with "requests.".
Status check_resource_prefix(std::string_view prefix);
// 1 to 63 letters, digits, "-", "_" and ".", with a letter or digit at either end.
Status check_resource_name(std::string_view name);
// "example.com/ib_vfs"
Status check_resource(std::string_view resource);

}  // namespace ibpod
