#include "ctl/doctor_questions.h"
#include "ctl/print.h"
#include "ctl/session.h"
#include "lib/node/linux_kernel.h"

namespace ibpod::ctl {
namespace {

struct Typed {
  bool all = false;
  bool fabric_only = false;
};

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
