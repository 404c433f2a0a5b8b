#include "ctl/doctor_questions.h"
#include "ctl/print.h"
#include "ctl/session.h"
#include "lib/node/linux_kernel.h"

namespace ibpod::ctl {
namespace {

struct Arguments {
  bool all = false;
  bool fabric_only = false;
};

Status examine_node(const Session& session, std::vector<Finding>& findings) {
  // Without RDMA there is much to find all the same.
  const Result<std::unique_ptr<node::LinuxKernel>> kernel = node::LinuxKernel::open();
  const Machine machine = TRY(read_machine(session.paths, kernel ? kernel->get() : nullptr));
  findings = examine(machine);
  ask_agent(session, findings);
  return ok();
}

// Whatever the failure, it ends with 3: 1 and 2 are taken, and more would say nothing to who mends.
Result<Answer> doctor(const Session& session, const Arguments& arguments) {
  std::vector<Finding> findings;
  if (!arguments.fabric_only) {
    const Status examined = examine_node(session, findings);
    if (!examined) return Error(Code::internal, examined.error().text());
  }
  if (arguments.fabric_only || session.sm.given) ask_service(session, findings);
  return session.answer(
      as_json(findings), [&] { return as_text(findings, arguments.all); }, exit_code(findings));
}

}  // namespace

Command doctor_command(Session& session) {
  const auto arguments = std::make_shared<Arguments>();
  MachinePaths& paths = session.paths;
  return {.name = "doctor",
          .help =
              "what is wrong with this node and how to mend it, and, where --sm or IBPOD_SM is "
              "given, with the fabric; exit 0: nothing, 1: warnings, 2: something is wrong, 3: "
              "it could not be found out",
          .options = {{"--all", &arguments->all, "also what is well"},
                      {"--fabric-only", &arguments->fabric_only, "the fabric, and not this node"},
                      {"--kubelet-root", &paths.kubelet, "the kubelet's folder"},
                      {"--cni-bin", &paths.plugins, "where the plugins are installed"},
                      {"--state", &paths.state, "where the records are"}},
          .run = [&session, arguments] { return doctor(session, *arguments); }};
}

}  // namespace ibpod::ctl
