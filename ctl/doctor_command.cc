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

// Any failure ends with 3: 1 and 2 are taken, and more codes would not help the user.
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
  return {
      .name = "doctor",
      .help =
          "check this node, and the fabric if --sm or IBPOD_SM is set, and say how to repair "
          "what is wrong; exit code 0: no problems, 1: warnings, 2: problems, 3: the check failed",
      .options = {{"--all", &arguments->all, "also print what is ok"},
                  {"--fabric-only", &arguments->fabric_only, "check only the fabric"},
                  {"--kubelet-root", &paths.kubelet, "root folder of the kubelet"},
                  {"--cni-bin", &paths.plugins, "folder of the CNI plugins"},
                  {"--state", &paths.state, "folder of the records"}},
      .run = [&session, arguments] { return doctor(session, *arguments); }};
}

}  // namespace ibpod::ctl
