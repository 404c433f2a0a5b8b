#include "agent/agent.h"
#include "agent/prepare/pf_config.h"
#include "device-plugin/pool_config.h"

namespace ibpod::agent {

void check_sections(const config::Config& config, config::Findings& findings) {
  for (const Error& error : prepare::parse_pf_configs(config.pfs).errors)
    findings.error(error.text());
  const Result<device_plugin::PoolConfig> pools =
      device_plugin::parse_pools(config.resource_list, config.resource_prefix);
  if (!pools) return findings.error(pools.error().text());
  for (const std::string& text : pools->warnings) findings.warning(text);
}

}  // namespace ibpod::agent
