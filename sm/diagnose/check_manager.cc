#include "sm/diagnose/checks.h"

namespace ibpod::sm::diagnose {
namespace {

// The consequence for tenants. If the port is down, the subnet manager has no influence.
std::string_view meaning(const engine::EngineStatus& engine) {
  switch (engine.port_down ? engine::Health::gone : engine.health) {
    case engine::Health::failed_open:
      return "nothing is separated: every port is a full member of the default partition";
    case engine::Health::not_master:
    case engine::Health::other_file:
      return "the configuration of another subnet manager decides which ports reach each other";
    case engine::Health::gone:
    case engine::Health::refused:
    case engine::Health::stuck:
      return "the partitions in force stay, but new pods get no P_Key, and ports of ended pods "
             "keep theirs";
    case engine::Health::starting:
    case engine::Health::serving:
      break;
  }
  return "its effect is not known yet";
}

std::string remedy(const engine::EngineStatus& engine, const ManagerWords& words) {
  if (engine.health == engine::Health::starting) return std::string(words.starting);
  if (engine.port_down)
    return "bring up the link of that port on ibpod-sm's machine (`ibstat` shows it; check the "
           "cable and the switch port); ibpod-sm then continues by itself";
  return std::string(words.fault);
}

std::string state_of(const fabric::DiscoveredSm& manager) {
  const mad::SmInfo* info = mad::value_of(manager.info);
  if (info == nullptr)
    return "does not report its state (" + mad::failure_of(manager.info)->text() + ")";
  const std::string priority = ", priority " + std::to_string(info->priority);
  switch (info->state) {
    case mad::SmState::master:
      return "is master" + priority;
    case mad::SmState::standby:
      return "is standby" + priority;
    case mad::SmState::discovering:
      return "is discovering the subnet" + priority;
    case mad::SmState::not_active:
      break;
  }
  return "is not active" + priority;
}

Finding other_manager(const FabricSnapshot& snapshot, const fabric::DiscoveredSm& manager,
                      const ManagerWords& words) {
  const std::string text = "another subnet manager " + state_of(manager) + ": ";
  const std::string meaning =
      manager.is_master() ? "the partitions of its configuration are in force, or both managers "
                            "keep overwriting the tables"
                          : "if it takes over, it gives every port the keys of its own "
                            "configuration, so tenants lose their keys or get old ones back";
  return {described(snapshot.topology, manager.port),
          text + meaning + seen_at(snapshot.discovery_began), std::string(words.other_manager)};
}

Issue issue_of(engine::EngineFinding::Kind kind) {
  using Kind = engine::EngineFinding::Kind;
  switch (kind) {
    case Kind::release:
      return Issue::release;
    case Kind::no_right:
      return Issue::no_right;
    case Kind::default_full:
      return Issue::default_rule;
    case Kind::per_port_m_key:
      return Issue::per_port_m_key;
    case Kind::no_port:
      return Issue::no_port;
    case Kind::unread_setting:
      return Issue::unread_setting;
    case Kind::foreign_member:
      return Issue::foreign_member;
    case Kind::unwritten_pkey:
      return Issue::unwritten_pkey;
    case Kind::other_ipoib:
      return Issue::other_ipoib;
    case Kind::widened:
      return Issue::widened;
    case Kind::unconfined_vf:
      return Issue::unconfined_vf;
  }
  return Issue::engine;
}

}  // namespace

void check_engine(const engine::EngineStatus& engine, const SmSettings& settings,
                  HealthChecks& checks) {
  if (engine.health != engine::Health::serving) {
    const std::string trouble = engine.trouble.empty() ? "" : ": " + engine.trouble;
    add(checks, Issue::engine, 1,
        {"subnet manager",
         std::string(engine::name(engine.health)) + trouble + ": " + std::string(meaning(engine)),
         remedy(engine, words_of(settings.owner))});
  }
  const size_t full = engine.full_tables;
  add(checks, Issue::full_table, full,
      {"P_Key tables",
       counted(full, "time") + " since the start a port's P_Key table had no free entry for a key: "
                               "the port is missing from a partition that it should be in",
       "run `ibpodctl plan` to see the ports, and put them into fewer partitions"});
  const size_t lost = engine.enforcement_lost;
  add(checks, Issue::enforcement_lost, lost,
      {"switches",
       counted(lost, "time") +
           " since the start OpenSM disabled enforcement at a switch port because its table was "
           "too small: root on the node connected to it can send into any partition",
       "put the node's pods into fewer partitions; OpenSM's log names the port (ERR 0507)"});
}

void check_cgroup(const engine::EngineStatus& engine, HealthChecks& checks) {
  if (engine.shared_cgroup.empty()) return;
  add(checks, Issue::shared_limit, 1,
      {"subnet manager", engine.shared_cgroup,
       "run ibpod-sm by its systemd unit, which gives OpenSM its own scope, and restart it; in a "
       "container, run OpenSM in a second container and set opensm.pidFile and opensm.logFile"});
}

void check_start(const engine::EngineStatus& engine, HealthChecks& checks) {
  if (engine.start_refused.empty()) return;
  add(checks, Issue::start_refused, 1,
      {"subnet manager",
       "it still runs with its previous settings; if it ends, ibpod-sm does not start it again: " +
           engine.start_refused,
       "correct the file's mode or owner as the text says; ibpod-sm checks the file every minute"});
}

void check_manual_edit(const engine::EngineStatus& engine, HealthChecks& checks) {
  if (engine.undone_edit.empty()) return;
  add(checks, Issue::undone_edit, 1,
      {"partitions.conf", engine.undone_edit,
       "correct the edit and put it below the administrator's line of partitions.conf again; to "
       "drop the edit, remove partitions.conf.refused"});
}

void check_engine_findings(const engine::EngineStatus& engine, HealthChecks& checks) {
  for (const engine::EngineFinding& one : engine.findings)
    add(checks, issue_of(one.kind), one.count, {one.subject, one.text, one.remedy});
}

void check_other_managers(const FabricSnapshot& snapshot, const SmSettings& settings,
                          HealthChecks& checks) {
  for (const fabric::DiscoveredSm& manager : snapshot.topology.managers())
    if (manager.port != snapshot.sm_port)
      add(checks, Issue::other_manager, 1,
          other_manager(snapshot, manager, words_of(settings.owner)));
}

}  // namespace ibpod::sm::diagnose
