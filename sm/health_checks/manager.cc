#include "sm/health_checks/checks.h"

namespace ibpod::sm::health_checks {
namespace {

using fabricapi::Finding;

// What tenants notice of it. A port that is down decides nothing.
std::string_view meaning(const engine::EngineStatus& engine) {
  switch (engine.port_down ? engine::Health::gone : engine.health) {
    case engine::Health::failed_open:
      return "nothing is separated: every port is a full member of the default partition";
    case engine::Health::not_master:
    case engine::Health::other_file:
      return "who may reach whom is decided by somebody else's configuration";
    case engine::Health::gone:
    case engine::Health::refused:
    case engine::Health::stuck:
      return "what is in force stays so, but new pods get no partition, and those that are gone "
             "leave theirs at their ports";
    case engine::Health::starting:
    case engine::Health::serving:
      break;
  }
  return "nothing is known of it yet";
}

std::string remedy(const engine::EngineStatus& engine) {
  if (engine.health == engine::Health::starting)
    return "wait for its first sweep; if none comes see ibpod-sm's log, and OpenSM's";
  if (engine.port_down)
    return "bring up the link of that port of ibpod-sm's machine (`ibstat`: its cable, its switch "
           "port); ibpod-sm goes on by itself";
  return "see ibpod-sm's log and OpenSM's; once it is mended ibpod-sm goes on by itself";
}

std::string state_of(const fabric::DiscoveredSm& manager) {
  const mad::SmInfo* info = mad::value_of(manager.info);
  if (info == nullptr)
    return "does not say what it is (" + mad::failure_of(manager.info)->text() + ")";
  const std::string priority = ", priority " + std::to_string(info->priority);
  switch (info->state) {
    case mad::SmState::master:
      return "is master" + priority;
    case mad::SmState::standby:
      return "stands by" + priority;
    case mad::SmState::discovering:
      return "is discovering the subnet" + priority;
    case mad::SmState::not_active:
      break;
  }
  return "is not active" + priority;
}

Finding rival(const tables::FabricSnapshot& snapshot, const fabric::DiscoveredSm& manager) {
  const std::string text = "another subnet manager " + state_of(manager) + ": ";
  const std::string meaning =
      manager.is_master()
          ? "the partitions of its own configuration are in force, or it fights ours for the tables"
          : "when it takes over it gives every port the keys of its own configuration, so that "
            "tenants lose theirs, or get old ones back";
  return {tables::described(snapshot.topology, manager.port),
          text + meaning + seen_at(snapshot.discovery_began),
          "stop it (opensm on that host; on a switch the command that disables its subnet "
          "manager), or forbid it: a port with an M_Key of ours takes no orders from it"};
}

}  // namespace

void check_engine(const engine::EngineStatus& engine, HealthChecks& checks) {
  if (engine.health != engine::Health::serving) {
    const std::string trouble = engine.trouble.empty() ? "" : ": " + engine.trouble;
    add(checks, Issue::engine, 1,
        {"subnet manager",
         std::string(engine::name(engine.health)) + trouble + ": " + std::string(meaning(engine)),
         remedy(engine)});
  }
  const size_t full = engine.full_tables;
  add(checks, Issue::full_table, full,
      {"P_Key tables",
       counted(full, "time") + " since the start a key found no room in a port's table: that port "
                               "is not in a partition that it should be in",
       "`ibpodctl plan` names the ports; put them into fewer partitions"});
  const size_t lost = engine.enforcement_lost;
  add(checks, Issue::enforcement_lost, lost,
      {"switches",
       counted(lost, "time") + " since the start OpenSM switched a switch port's enforcement off, "
                               "whose table was too small: root on the node behind it can send "
                               "into any partition",
       "put the node's pods into fewer partitions; OpenSM's log names the port (ERR 0507)"});
}

void check_cgroup(const engine::EngineStatus& engine, HealthChecks& checks) {
  if (engine.shared_cgroup.empty()) return;
  add(checks, Issue::shared_limit, 1,
      {"subnet manager", engine.shared_cgroup,
       "run ibpod-sm by its systemd unit, which gives OpenSM a scope of its own, and restart it; "
       "in a container run OpenSM in a container beside it and name its pidFile and logFile"});
}

void check_start(const engine::EngineStatus& engine, HealthChecks& checks) {
  if (engine.start_refused.empty()) return;
  add(checks, Issue::start_refused, 1,
      {"subnet manager",
       "it runs with the settings that it was started with; if it ends, ibpod-sm does not start it "
       "again: " +
           engine.start_refused,
       "correct the file's mode or owner as the text says; ibpod-sm checks it every minute"});
}

void check_manual_edit(const engine::EngineStatus& engine, HealthChecks& checks) {
  if (engine.undone_edit.empty()) return;
  add(checks, Issue::undone_edit, 1,
      {"partitions.conf", engine.undone_edit,
       "correct it and put it below the administrator's line of partitions.conf again, or, where "
       "it is not to be, remove partitions.conf.refused"});
}

void check_other_managers(const tables::FabricSnapshot& snapshot, HealthChecks& checks) {
  for (const fabric::DiscoveredSm& manager : snapshot.topology.managers())
    if (manager.port != snapshot.sm_port)
      add(checks, Issue::other_manager, 1, rival(snapshot, manager));
}

}  // namespace ibpod::sm::health_checks
