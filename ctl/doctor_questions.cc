#include "ctl/doctor_questions.h"

namespace ibpod::ctl {
namespace {

Result<v1::FabricHealthResponse> fabric_health(const Session& session) {
  const auto service = TRY(session.service());
  return service->health(session.deadline());
}

// If ibpod-sm is to run on this machine it needs ib_umad, and ends without it.
std::string start_remedy(const Session& session) {
  const std::string see = "check that ibpod-sm runs at " + session.sm.address + ", and see its log";
  const bool here = session.sm.address.starts_with("/") || session.sm.address.starts_with("unix:");
  if (!here || path_exists(session.paths.sys / "class/infiniband_mad")) return see;
  return "modprobe ib_umad, which ibpod-sm requires and which is not loaded here; then " + see;
}

std::string remedy_of(const Session& session, const Error& error) {
  switch (exit_code(error)) {
    case kOwnFiles:
      return "set --certificate, --key and --ca (or IBPOD_CERTIFICATE, IBPOD_KEY and "
             "IBPOD_CA) to valid files: nothing was sent to ibpod-sm";
    case kOtherFabric:
      return "set --fabric or IBPOD_FABRIC to the fabric of " + session.sm.address +
             ", or --sm or IBPOD_SM to another address";
    case kDenied:
      return "permit the caller under `roles` in ibpod-sm's configuration";
    case kUsage:
      return "set --sm to an address, and the options that it requires";
    default:
      return start_remedy(session);
  }
}

}  // namespace

// The problems that the agent knows, beside those that are visible without it.
void ask_agent(const Session& session, std::vector<Finding>& findings) {
  const Result<v1::HealthResponse> health =
      session.agent(session.paths.agent)->fresh_health(session.deadline());
  if (!health) {
    findings.push_back({"agent", Grade::wrong, health.error().text(),
                        "check that its DaemonSet's pod runs on this node, and see its log",
                        Issue::agent});
    return;
  }
  for (const v1::HealthResponse::Finding& one : health->findings())
    findings.push_back(
        {one.subject(), Grade::wrong, one.text(), one.remedy(), Issue::reported_by_agent});
  if (health->registered()) return;
  findings.push_back({"kubelet", Grade::wrong, "not all resources of the agent are registered",
                      "see the agent's log for why each registration failed; the agent retries",
                      Issue::registration});
}

void ask_service(const Session& session, std::vector<Finding>& findings) {
  const Result<v1::FabricHealthResponse> health = fabric_health(session);
  if (!health) {
    findings.push_back({"SM service", Grade::wrong, health.error().text(),
                        remedy_of(session, health.error()), Issue::sm_service});
    return;
  }
  findings.push_back({"SM service", Grade::fine, health->engine(), "", Issue::none});
  for (const v1::FabricHealthResponse::Finding& one : health->findings())
    findings.push_back({"fabric: " + one.subject(), Grade::wrong, one.text(), one.remedy(),
                        Issue::reported_by_service});
}

}  // namespace ibpod::ctl
