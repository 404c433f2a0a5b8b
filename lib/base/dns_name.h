// Kubernetes object names (RFC 1123): lowercase letters, digits and, inside, "-".
#pragma once

#include <string_view>

namespace ibpod {

// A label: at most 63 bytes. Namespaces have this form.
bool is_dns_label(std::string_view name);
// Labels joined by dots, at most 253 bytes. Nodes and pods have this form.
bool is_dns_subdomain(std::string_view name);

}  // namespace ibpod
