#include "agent/config/config.h"
#include "lib/base/private_file.h"

namespace ibpod::agent::config {

Status check_private_keys(const Config& config) {
  for (size_t i = 0; i < config.fabrics.size(); ++i) {
    const Path& key = config.fabrics[i].sm_address.files.key;
    if (key.empty()) continue;
    Status only_ours = check_private(key);
    if (!only_ours && only_ours.error().code() == Code::denied)
      return std::move(only_ours).during("fabrics[" + std::to_string(i) + "].key");
  }
  return ok();
}

}  // namespace ibpod::agent::config
