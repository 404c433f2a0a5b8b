#include "lib/fabric/namespaces.h"

#include "lib/base/dns_name.h"

#include <algorithm>

namespace ibpod::fabric {
namespace {

constexpr size_t kMostQuoted = 63;

}  // namespace

Status check(const Namespaces& namespaces) {
  for (const std::string& name_space : namespaces)
    if (name_space != "*" && !is_dns_label(name_space))
      return Error(Code::invalid,
                   "'" + name_space.substr(0, kMostQuoted) + "' is not a namespace or *");
  return ok();
}

bool contains(const Namespaces& namespaces, std::string_view name_space) {
  return std::any_of(namespaces.begin(), namespaces.end(), [&](const std::string& allowed) {
    return allowed == "*" || allowed == name_space;
  });
}

}  // namespace ibpod::fabric
