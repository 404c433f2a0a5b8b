// For any configuration of the agent: it is accepted or refused with reasons, for the node and for
// others, and an accepted one keeps its promises.
#include "agent/config/config.h"
#include "device-plugin/pool_config.h"
#include "tests/support/fuzz.h"

namespace ibpod::agent::config {
namespace {

using fuzz::require;

// As the agent does.
void check_json(const Config& config, Findings& findings) {
  const auto pools = device_plugin::parse_pools(config.resource_list, config.resource_prefix);
  if (!pools) findings.error(pools.error().text());
}

bool is_plain(const Path& path) {
  return path.is_absolute() && path.lexically_normal() == path &&
         path.string().find('\0') == std::string::npos;
}

void check_values(const Config& config) {
  constexpr size_t kMostSocket = 107;
  for (const Path& path : {config.kubelet_root, config.state_folder, config.cni_folder,
                           config.device_info_folder, config.cdi_folder, config.sysfs})
    require(is_plain(path));
  require(is_plain(config.agent_socket) && config.agent_socket.native().size() <= kMostSocket);
  require(config.log_file.empty() || is_plain(config.log_file));
  require(config.pfs.is_array() && config.resource_list.is_array());
  require(config.sweep_interval >= Duration(5'000) && config.sweep_interval <= Duration(3'600'000));
  for (const FabricService& fabric : config.fabrics)
    require(fabricapi::check_address(fabric.sm_address.address).ok() &&
            is_plain(fabric.sm_address.files.key));
}

void check_findings(const ParsedConfig& result, size_t size) {
  const Findings& findings = result.findings;
  require(result.config.has_value() == findings.errors.empty());
  for (const auto* const texts : {&findings.errors, &findings.warnings})
    for (const std::string& text : *texts) fuzz::check_refusal(Error(Code::invalid, text), size);
}

}  // namespace
}  // namespace ibpod::agent::config

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  const auto result =
      agent::config::read_config(fuzz::text_of(data, size), "gpu-17", agent::config::check_json);
  agent::config::check_findings(result, size);
  if (result.config) agent::config::check_values(*result.config);
  return 0;
}
