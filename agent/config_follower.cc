#include "agent/configuration.h"

#include "lib/attach/agent_required_file.h"

namespace ibpod::agent {

bool Configuration::needs_partitions() const {
  return !config().fabrics.empty() && !config().without_partition;
}

// Nothing to wait for where that fails: the file is looked at with everything else that happens.
int Configuration::watch() {
  const Result<int> watched = reloader_.watch();
  telemetry_.report_condition("watch the configuration folder",
                              watched ? ok() : Status(watched.error()));
  return watched ? *watched : -1;
}

bool Configuration::reload() {
  const config::Reload reload = reloader_.poll();
  telemetry_.report_reload(reload);
  return reload.kind == config::Reload::Kind::taken;
}

void Configuration::apply() {
  const attach::AgentRequiredFile mark(config().state_folder);
  const bool alone = config().standalone && config().fabrics.empty();
  telemetry_.report_condition(
      "standalone", alone ? mark.remove() : mark.write(config().agent_socket, needs_partitions()));
  telemetry_.report_condition("private keys", config::check_private_keys(config()));
}

}  // namespace ibpod::agent
