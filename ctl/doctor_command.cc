#include "ctl/doctor.h"
#include "ctl/print.h"
#include "ctl/session.h"
#include "lib/node/linux_kernel.h"

namespace ibpod::ctl {
namespace {

struct Typed {
  bool all = false;
  bool fabric_only = false;
};

// What the agent knows to be wrong, beside what can be seen without it.
void ask_agent(const Session& session, std::vector<Finding>& findings) {
  const Result<nodeapi::Health> health =
      session.agent(session.places.agent)->health(session.deadline());
  if (!health) {
    findings.push_back({"agent", Grade::wrong, health.error().text(),
                        "see whether its DaemonSet's pod runs on this node, and its log"});
    return;
  }
  for (const nodeapi::Finding& one : health->findings)
    findings.push_back({one.subject, Grade::wrong, one.text, one.remedy});
  if (health->registered) return;
  findings.push_back({"kubelet", Grade::wrong, "it does not know all of the agent's resources",
                      "see the agent's log: it says why each registration failed, and goes on"});
}

Result<fabricapi::FabricHealth> fabric_health(const Session& session) {
  const auto service = TRY(session.service());
  return service->health(session.deadline());
}

// Where it is to run here it needs ib_umad, and ends without.
std::string start_remedy(const Session& session) {
  const std::string see = "see whether ibpod-sm runs at " + session.sm.address + ", and its log";
  const bool here = session.sm.address.starts_with("/") || session.sm.address.starts_with("unix:");
  if (!here || path_exists(session.places.sys / "class/infiniband_mad")) return see;
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

void ask_service(const Session& session, std::vector<Finding>& findings) {
  const Result<fabricapi::FabricHealth> health = fabric_health(session);
  if (!health) {
    findings.push_back(
        {"SM service", Grade::wrong, health.error().text(), remedy_of(session, health.error())});
    return;
  }
  findings.push_back({"SM service", Grade::fine, health->engine, ""});
  for (const fabricapi::Finding& one : health->findings)
    findings.push_back({"fabric: " + one.subject, Grade::wrong, one.text, one.remedy});
}

Status examine_node(const Session& session, std::vector<Finding>& findings) {
  // Without RDMA there is much to find all the same.
  const Result<std::unique_ptr<node::LinuxKernel>> kernel = node::LinuxKernel::open();
  const Machine machine = TRY(look_at(session.places, kernel ? kernel->get() : nullptr));
  findings = examine(machine);
  ask_agent(session, findings);
  return ok();
}

// Whatever the failure, it ends with 3: 1 and 2 are taken, and more would say nothing to who mends.
Result<Answer> doctor(const Session& session, const Typed& typed) {
  std::vector<Finding> findings;
  if (!typed.fabric_only) {
    const Status examined = examine_node(session, findings);
    if (!examined) return Error(Code::internal, examined.error().text());
  }
  if (typed.fabric_only || session.sm.given) ask_service(session, findings);
  return session.answer(
      as_json(findings), [&] { return as_text(findings, typed.all); }, exit_code(findings));
}

}  // namespace

Command doctor_command(Session& session) {
  const auto typed = std::make_shared<Typed>();
  Places& places = session.places;
  return {.name = "doctor",
          .help =
              "what is wrong with this node and how to mend it, and, where --sm or IBPOD_SM is "
              "given, with the fabric; exit 0: nothing, 1: warnings, 2: something is wrong, 3: "
              "it could not be found out",
          .options = {{"--all", &typed->all, "also what is well"},
                      {"--fabric-only", &typed->fabric_only, "the fabric, and not this node"},
                      {"--kubelet-root", &places.kubelet, "the kubelet's folder"},
                      {"--cni-bin", &places.plugins, "where the plugins are installed"},
                      {"--state", &places.state, "where the records are"}},
          .run = [&session, typed] { return doctor(session, *typed); }};
}

}  // namespace ibpod::ctl
