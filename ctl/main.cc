#include "ctl/print.h"
#include "lib/node/linux_kernel.h"
#include "lib/nodeapi/client.h"

#include <cstdio>
#include <iostream>

#include <CLI/CLI.hpp>

namespace ibpod::ctl {
namespace {

constexpr Duration kPatience{10'000};
constexpr int kFailed = 3;  // beside the doctor's 0, 1 and 2

struct Options {
  Places places;
  bool json = false;
  bool all = false;
  std::string device;
};

std::unique_ptr<nodeapi::Node> agent(const Options& options) {
  return nodeapi::connect(options.places.agent);
}

Status show_devices(const Options& options) {
  const auto devices = TRY(agent(options)->devices(Deadline::in(kPatience)));
  std::cout << (options.json ? as_json(devices).pretty() + "\n" : as_table(devices));
  return ok();
}

Status show_attachments(const Options& options) {
  const auto attachments = TRY(agent(options)->attachments(Deadline::in(kPatience)));
  std::cout << (options.json ? as_json(attachments).pretty() + "\n" : as_table(attachments));
  return ok();
}

Status explain(const Options& options) {
  const auto address = TRY(ib::PciAddress::parse(options.device).during("DEVICE"));
  const auto explanation = TRY(agent(options)->explain(address.text(), Deadline::in(kPatience)));
  std::cout << (options.json ? as_json(explanation).pretty() + "\n" : as_text(explanation));
  return ok();
}

// What the agent knows to be wrong, beside what can be seen without it.
void ask_agent(const Options& options, std::vector<Finding>& findings) {
  const Result<nodeapi::Health> health = agent(options)->health(Deadline::in(kPatience));
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

Result<int> doctor(const Options& options) {
  // Without RDMA there is much to find all the same.
  const Result<std::unique_ptr<node::LinuxKernel>> kernel = node::LinuxKernel::open();
  const Machine machine = TRY(look_at(options.places, kernel ? kernel->get() : nullptr));
  std::vector<Finding> findings = examine(machine);
  ask_agent(options, findings);
  std::cout << (options.json ? as_json(findings).pretty() + "\n" : as_text(findings, options.all));
  return exit_code(findings);
}

int report(const Result<int>& result) {
  if (result) return *result;
  std::cerr << "error: " << result.error().text() << "\n";
  return kFailed;
}

int report(const Status& status) {
  return report(status ? Result<int>(0) : Result<int>(status.error()));
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Looks at ibpod on this node.", "ibpodctl");
  app.set_version_flag("--version", IBPOD_VERSION);
  app.require_subcommand(1);
  app.add_flag("--json", options.json, "print JSON, for programs");
  app.add_option("--socket", options.places.agent, "the agent's socket")->capture_default_str();
  app.add_subcommand("devices", "InfiniBand functions: pool, health, whose they are");
  app.add_subcommand("attachments", "what pods have, and what waits for its clean-up");
  CLI::App* explained = app.add_subcommand("explain", "why a device is in its pool, or in none");
  explained->add_option("DEVICE", options.device, "PCI address, such as 0000:3b:00.2")->required();
  CLI::App* doctored = app.add_subcommand(
      "doctor",
      "what is wrong with this node and how to mend it; exit 0: nothing, 1: warnings, "
      "2: something is wrong, 3: it could not be found out");
  doctored->add_flag("--all", options.all, "also what is well");
  doctored->add_option("--kubelet-root", options.places.kubelet)->capture_default_str();
  doctored->add_option("--cni-bin", options.places.plugins, "where the plugins are installed")
      ->capture_default_str();
  doctored->add_option("--state", options.places.state, "where the records are")
      ->capture_default_str();
  app.fallthrough();
  CLI11_PARSE(app, argc, argv);
  if (app.got_subcommand("devices")) return report(show_devices(options));
  if (app.got_subcommand("attachments")) return report(show_attachments(options));
  if (app.got_subcommand("explain")) return report(explain(options));
  return report(doctor(options));
}

}  // namespace
}  // namespace ibpod::ctl

int main(int argc, char** argv) { return ibpod::ctl::run(argc, argv); }
