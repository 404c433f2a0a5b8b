#include "agent/config_follower.h"

#include "lib/attach/agent_required_file.h"

namespace ibpod::agent {

bool ConfigFollower::needs_partitions() const {
  return !config().fabrics.empty() && !config().without_partition;
}

// Nothing to wait for where that fails: the file is looked at with everything else that happens.
int ConfigFollower::watch() {
  const Result<int> watched = reloader_.watch();
  telemetry_.report_condition("watch the configuration folder",
                              watched ? ok() : Status(watched.error()));
  return watched ? *watched : -1;
}

bool ConfigFollower::reload() {
  const config::Reload reload = reloader_.poll();
  telemetry_.report_reload(reload);
  return reload.kind == config::Reload::Kind::taken;
}

void ConfigFollower::write_agent_required() {
  const attach::AgentRequiredFile file(config().state_folder);
  const bool alone = config().standalone && config().fabrics.empty();
  telemetry_.report_condition(
      "standalone", alone ? file.remove() : file.write(config().agent_socket, needs_partitions()));
}

void ConfigFollower::check_private_keys() {
  telemetry_.report_condition("private keys", config::check_private_keys(config()));
}

}  // namespace ibpod::agent
