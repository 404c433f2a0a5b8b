#include "lib/attach/plugin.h"

#include "lib/attach/verbs.h"
#include "lib/base/private_file.h"
#include "lib/cni/streams.h"
#include "lib/node/boot_id.h"
#include "lib/node/linux_kernel.h"
#include "lib/node/traced_kernel.h"
#include "lib/nodeapi/client.h"

#include <array>
#include <cstdio>
#include <iostream>

#include <malloc.h>
#include <unistd.h>

namespace ibpod::attach {
namespace {

cni::Environment environment_of(char** entries) {
  cni::Environment environment;
  for (; *entries != nullptr; ++entries) {
    const std::string_view entry = *entries;
    const size_t equals = entry.find('=');
    if (equals != std::string_view::npos)
      environment[std::string(entry.substr(0, equals))] = entry.substr(equals + 1);
  }
  return environment;
}

Result<std::unique_ptr<node::Kernel>> open_linux() {
  std::unique_ptr<node::LinuxKernel> kernel = TRY(node::LinuxKernel::open());
  return std::unique_ptr<node::Kernel>(std::move(kernel));
}

// The agent may keep this node's records in another folder, which it sets in the environment.
Result<NodeConfig> node_config(const cni::Environment& environment) {
  NodeConfig config = TRY(read_node_config(Path(kNodeConfigFile)));
  const auto state = environment.find(std::string(kStateVariable));
  if (state != environment.end() && !state->second.empty())
    config.state_folder = TRY(plain_path(state->second, std::string(kStateVariable)));
  return config;
}

std::string read_input() {
  std::string input;
  std::array<char, 16384> buffer;
  while (input.size() < cni::kLargestInput) {
    std::cin.read(buffer.data(), buffer.size());
    if (std::cin.gcount() == 0) break;
    input.append(buffer.data(), static_cast<size_t>(std::cin.gcount()));
  }
  return input;
}

}  // namespace

int run(PluginKind kind, const std::string& about, char** entries) {
  // One heap for all threads: a second one costs four calls, and they work one at a time.
  ::mallopt(M_ARENA_MAX, 1);
  const Status secured = cni::secure_streams();
  if (!secured) {
    std::fprintf(stderr, "%s\n", secured.error().text().c_str());
    return 1;
  }
  const cni::Environment environment = environment_of(entries);
  if (!environment.contains("CNI_COMMAND")) {
    std::fprintf(
        stderr,
        "%s\nA container runtime or Multus calls it with CNI_COMMAND and a configuration on "
        "standard input.\n",
        about.c_str());
    return 0;
  }
  // VERSION returns its input's version. A user may run it on a terminal, without input.
  const bool has_input = environment.at("CNI_COMMAND") != "VERSION" || ::isatty(STDIN_FILENO) == 0;
  const std::string input = has_input ? read_input() : "";
  log::Log log(log::Level::info);
  Plugin plugin(
      std::move(kind),
      {open_linux, node::read_boot_id, nodeapi::connect, [&] { return node_config(environment); }},
      log);
  const cni::Answer answer = cni::serve(plugin, environment, input);
  if (has_input) plugin.finish(answer.failure);
  const Status printed = cni::print(answer.output);
  if (!printed) log.write(log::Level::error, printed.error().text());
  return printed ? answer.exit_code : 1;
}

void Plugin::prepare(const cni::Call& call, const json::Value& document) {
  node_ = deps_.node_config();
  // If the node's file cannot be read, the defaults serve for the log only: configure() refuses
  // every verb.
  network_read_ = kind_.parse(call, document, node_ ? *node_ : NodeConfig());
  log_.name_call(call, document);
  const std::string subject = network_read_.driver->subject();
  if (!subject.empty()) log_.name_device(subject);
  log_.open(network_read_.settings);
}

Status Plugin::configure(const cni::Call& call, const cni::Network& network) {
  call_ = &call;
  network_ = &network;
  log_.name_network(network.name);
  if (call.environment.contains(std::string(kCalledAsIpam)))
    return Error(Code::invalid,
                 "ipam: " + kind_.type + " was called as an IPAM plugin, but is not one");
  // For DEL, too: it would look for its record in the wrong folder, and release nothing.
  if (!node_) return node_.error();
  // DEL continues with the keys that could be read.
  if (network_read_.error && call.verb != cni::Verb::del) return *network_read_.error;
  log_.warn_of_network(network.warnings);
  log_.warn_of_network(network_read_.warnings);
  const Path& named = network_read_.settings.state_folder;
  required_file_ = AgentRequiredFile::effective(named, node_->state_folder);
  if (!required_file_.is_in(named))
    log_.warn_of_network({"stateDir: " + named.string() +
                          " is ignored: this node's records are in " +
                          required_file_.folder().string() + " (required by " +
                          required_file_.file().string() + ")"});
  return ok();
}

// The file may be on the disk that is missing; an agent that listens has made the folder, too.
bool Plugin::expects_records() const {
  if (path_exists(required_file_.file())) return true;
  const Path& given = node_->agent_socket;
  return required_file_.is_in(node_->state_folder) &&
         path_exists(given.empty() ? Path(kAgentSocket) : given);
}

Result<Plugin::OpenNode> Plugin::open_node() {
  std::string boot_id = TRY(deps_.boot_id());
  std::unique_ptr<node::Kernel> kernel = TRY(deps_.open_kernel());
  auto traced = node::trace(*kernel, [this](const node::Step& step) { log_.step(step); });
  // Records that other users than root can write are not trusted.
  TRY(check_trusted_folder(required_file_.folder()).during("stateDir"));
  return OpenNode{std::move(kernel), std::move(traced), node::Records(required_file_.folder()),
                  std::move(boot_id)};
}

Context Plugin::context_of(const OpenNode& open) {
  const Settings& settings = network_read_.settings;
  return {.request = {kind_.type, *call_, *network_, settings},
          .host = {.kernel = *open.traced,
                   .records = open.records,
                   .boot_id = open.boot_id,
                   .agent = AgentClient(required_file_, settings, deps_.agent),
                   .expects_records = expects_records()},
          .log = log_};
}

// If the timeout is shorter than the default, the error says so: a longer one may succeed.
Result<cni::AddResult> Plugin::add() {
  const Duration timeout = network_read_.settings.timeout, usual = Settings().timeout;
  const Deadline deadline = Deadline::in(timeout);
  const OpenNode open = TRY(open_node());
  Result<cni::AddResult> added = attach::add(context_of(open), *network_read_.driver, deadline);
  if (added || added.error().code() != Code::unavailable || timeout >= usual) return added;
  const std::string details = added.error().details();
  const auto seconds = [](Duration time) { return std::to_string(time / Duration(1'000)); };
  return std::move(added).error().with_details(
      details + (details.empty() ? "" : ", ") + "timeoutSeconds of this network is " +
      seconds(timeout) + " (" + seconds(usual) + " by default)");
}

// DEL would find no record in the node's own folder, and succeed with the device left in the pod.
Status Plugin::check_recorded_here() const {
  const Path& folder = network_read_.settings.refused_state_folder;
  if (folder.empty() || !check_trusted_folder(folder)) return ok();
  const auto names = node::Records(folder).of_attachment(call_->container_id, call_->ifname);
  if (!names || names->empty()) return ok();
  return Error(Code::invalid, "stateDir: the record of this attachment is in " + folder.string() +
                                  ", the network's stateDir: set it as stateDir in " +
                                  std::string(kNodeConfigFile) +
                                  " until the pods of that network are gone");
}

Status Plugin::del() {
  TRY(check_recorded_here());
  const OpenNode open = TRY(open_node());
  return attach::del(context_of(open), network_read_.driver->folder(*call_),
                     network_read_.settings.timeout);
}

Status Plugin::check() {
  const OpenNode open = TRY(open_node());
  return attach::check(context_of(open), *network_read_.driver, network_read_.settings.timeout);
}

Status Plugin::gc() {
  const OpenNode open = TRY(open_node());
  return attach::gc(context_of(open), *network_read_.driver,
                    Deadline::in(network_read_.settings.timeout));
}

Status Plugin::status() {
  const OpenNode open = TRY(open_node());
  return attach::status(context_of(open), *network_read_.driver, network_read_.settings.timeout);
}

}  // namespace ibpod::attach
