#include "sm/health_checks/checks.h"

namespace ibpod::sm {
namespace {

using fabricapi::Finding;

// What tenants notice of it. A port that is down decides nothing.
std::string_view meaning(const Standing& engine) {
  switch (engine.port_down ? Health::gone : engine.health) {
    case Health::failed_open:
      return "nothing is separated: every port is a full member of the default partition";
    case Health::not_master:
    case Health::other_file:
      return "who may reach whom is decided by somebody else's configuration";
    case Health::gone:
    case Health::refused:
    case Health::stuck:
      return "what is in force stays so, but new pods get no partition, and those that are gone "
             "leave theirs at their ports";
    case Health::starting:
    case Health::serving:
      break;
  }
  return "nothing is known of it yet";
}

std::string remedy(const Standing& engine) {
  if (engine.health == Health::starting)
    return "wait for its first sweep; if none comes see ibpod-sm's log, and OpenSM's";
  if (engine.port_down)
    return "bring up the link of that port of ibpod-sm's machine (`ibstat`: its cable, its switch "
           "port); ibpod-sm goes on by itself";
  return "see ibpod-sm's log and OpenSM's; once it is mended ibpod-sm goes on by itself";
}

std::string state_of(const fabric::SeenManager& manager) {
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

Finding rival(const Evidence& evidence, const fabric::SeenManager& manager) {
  const std::string text = "another subnet manager " + state_of(manager) + ": ";
  const std::string meaning =
      manager.is_master()
          ? "the partitions of its own configuration are in force, or it fights ours for the tables"
          : "when it takes over it gives every port the keys of its own configuration, so that "
            "tenants lose theirs, or get old ones back";
  return {described(evidence.topology, manager.port), text + meaning + seen_at(evidence.looked),
          "stop it (opensm on that host; on a switch the command that disables its subnet "
          "manager), or forbid it: a port with an M_Key of ours takes no orders from it"};
}

}  // namespace

void examine_engine(const Standing& engine, Posture& posture) {
  if (engine.health != Health::serving) {
    const std::string trouble = engine.trouble.empty() ? "" : ": " + engine.trouble;
    add(posture, Weakness::engine, 1,
        {"subnet manager",
         std::string(name(engine.health)) + trouble + ": " + std::string(meaning(engine)),
         remedy(engine)});
  }
  const size_t full = engine.full_tables;
  add(posture, Weakness::full_table, full,
      {"P_Key tables",
       counted(full, "time") + " since the start a key found no room in a port's table: that port "
                               "is not in a partition that it should be in",
       "`ibpodctl plan` names the ports; put them into fewer partitions"});
  const size_t lost = engine.enforcement_lost;
  add(posture, Weakness::enforcement_lost, lost,
      {"switches",
       counted(lost, "time") + " since the start OpenSM switched a switch port's enforcement off, "
                               "whose table was too small: root on the node behind it can send "
                               "into any partition",
       "put the node's pods into fewer partitions; OpenSM's log names the port (ERR 0507)"});
}

void examine_cgroup(const Standing& engine, Posture& posture) {
  if (engine.shared_cgroup.empty()) return;
  add(posture, Weakness::shared_limit, 1,
      {"subnet manager", engine.shared_cgroup,
       "run ibpod-sm by its systemd unit, which gives OpenSM a scope of its own, and restart it; "
       "in a container run OpenSM in a container beside it and name its pidFile and logFile"});
}

void examine_start(const Standing& engine, Posture& posture) {
  if (engine.start_refused.empty()) return;
  add(posture, Weakness::start_refused, 1,
      {"subnet manager",
       "it runs with the settings that it was started with; if it ends, ibpod-sm does not start it "
       "again: " +
           engine.start_refused,
       "correct the file's mode or owner as the text says; ibpod-sm checks it every minute"});
}

void examine_edit(const Standing& engine, Posture& posture) {
  if (engine.undone_edit.empty()) return;
  add(posture, Weakness::undone_edit, 1,
      {"partitions.conf", engine.undone_edit,
       "correct it and put it below the administrator's line of partitions.conf again, or, where "
       "it is not to be, remove partitions.conf.refused"});
}

void examine_rivals(const Evidence& evidence, Posture& posture) {
  for (const fabric::SeenManager& manager : evidence.topology.managers())
    if (manager.port != evidence.sm_port)
      add(posture, Weakness::rival, 1, rival(evidence, manager));
}

}  // namespace ibpod::sm
