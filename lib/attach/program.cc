#include "lib/attach/program.h"

#include "lib/cni/plugin.h"
#include "lib/cni/streams.h"
#include "lib/node/boot_id.h"
#include "lib/node/linux_kernel.h"
#include "lib/nodeapi/client.h"

#include <array>
#include <cstdio>
#include <iostream>

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

// The agent keeps the records of this node, and may keep them elsewhere.
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
  // VERSION echoes what it is asked with. A person may ask without.
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

}  // namespace ibpod::attach
