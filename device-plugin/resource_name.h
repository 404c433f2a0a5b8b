// The name of an extended resource, prefix/name, and what follows from it.
#pragma once

#include "lib/base/result.h"

#include <string>
#include <string_view>

namespace ibpod::device_plugin {

// A DNS subdomain that Kubernetes takes for an extended resource: lower case, labels of at most 63
// characters, not its own kubernetes.io. invalid says what is wrong.
Status check_prefix(std::string_view prefix);

// ^[a-zA-Z0-9_-]+$, at most 63 characters, with a letter or a digit at either end (a qualified name
// of Kubernetes asks for that).
Status check_name(std::string_view name);

// PCIDEVICE_EXAMPLE_COM_IB_VFS of example.com/ib_vfs, as sriov-network-device-plugin writes it: a
// '-' stays, although no shell can name such a variable.
std::string variable_of(std::string_view resource);

}  // namespace ibpod::device_plugin
