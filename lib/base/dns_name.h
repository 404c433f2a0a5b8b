// Names as Kubernetes gives them to what it knows (RFC 1123): small letters, digits and, inside, -.
#pragma once

#include <string_view>

namespace ibpod {

// At most 63 bytes: a namespace.
bool is_dns_label(std::string_view name);
// Labels with dots between, at most 253 bytes together: a node, a pod.
bool is_dns_subdomain(std::string_view name);

}  // namespace ibpod
