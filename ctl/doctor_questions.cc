#include "ctl/doctor_questions.h"

namespace ibpod::ctl {
namespace {

Result<fabricapi::FabricHealth> fabric_health(const Session& session) {
  const auto service = TRY(session.service());
  return service->health(session.deadline());
}

// Where it is to run here it needs ib_umad, and ends without.
std::string start_remedy(const Session& session) {
  const std::string see = "see whether ibpod-sm runs at " + session.sm.address + ", and its log";
  const bool here = session.sm.address.starts_with("/") || session.sm.address.starts_with("unix:");
  if (!here || path_exists(session.paths.sys / "class/infiniband_mad")) return see;
  return "modprobe ib_umad, which ibpod-sm needs and is not loaded here; then " + see;
}

std::string remedy_of(const Session& session, const Error& error) {
  switch (exit_code(error)) {
    case kOwnFiles:
      return "name files that can be used with --certificate, --key and --ca, or "
             "IBPOD_CERTIFICATE, IBPOD_KEY and IBPOD_CA: ibpod-sm has not been asked";
    case kOtherFabric:
      return "name the fabric that " + session.sm.address +
             " has with --fabric or IBPOD_FABRIC, or another address with --sm or IBPOD_SM";
    case kDenied:
      return "see `roles` in ibpod-sm's configuration: who asks may not";
    case kUsage:
      return "name an address, and the files that it needs";
    default:
      return start_remedy(session);
  }
}

}  // namespace

// What the agent knows to be wrong, beside what can be seen without it.
void ask_agent(const Session& session, std::vector<Finding>& findings) {
  const Result<nodeapi::Health> health =
      session.agent(session.paths.agent)->fresh_health(session.deadline());
  if (!health) {
    findings.push_back({"agent", Grade::wrong, health.error().text(),
                        "see whether its DaemonSet's pod runs on this node, and its log",
                        Issue::agent});
    return;
  }
  for (const nodeapi::Finding& one : health->findings)
    findings.push_back({one.subject, Grade::wrong, one.text, one.remedy, Issue::reported_by_agent});
  if (health->registered) return;
  findings.push_back({"kubelet", Grade::wrong, "it does not know all of the agent's resources",
                      "see the agent's log: it says why each registration failed, and goes on",
                      Issue::registration});
}

void ask_service(const Session& session, std::vector<Finding>& findings) {
  const Result<fabricapi::FabricHealth> health = fabric_health(session);
  if (!health) {
    findings.push_back({"SM service", Grade::wrong, health.error().text(),
                        remedy_of(session, health.error()), Issue::sm_service});
    return;
  }
  findings.push_back({"SM service", Grade::fine, health->engine, "", Issue::none});
  for (const fabricapi::Finding& one : health->findings)
    findings.push_back(
        {"fabric: " + one.subject, Grade::wrong, one.text, one.remedy, Issue::reported_by_service});
}

}  // namespace ibpod::ctl
