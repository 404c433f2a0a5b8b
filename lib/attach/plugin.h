// Plugin: a CNI plugin of attachments. Its kind reads the network and makes the driver; the verbs
// (verbs.h) are common.
#pragma once

#include "lib/attach/attachment_driver.h"
#include "lib/attach/call_log.h"
#include "lib/attach/context.h"
#include "lib/attach/keys.h"
#include "lib/cni/plugin.h"
#include "lib/log/log.h"
#include "lib/node/kernel.h"
#include "lib/node/records.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ibpod::attach {

// The plugin's dependencies; tests replace them.
struct PluginDeps {
  std::function<Result<std::unique_ptr<node::Kernel>>()> open_kernel;
  std::function<Result<std::string>()> boot_id;
  Connect agent;
  // Called once per call.
  std::function<Result<NodeConfig>()> node_config;
};

// The network (ParsedConfig), and the driver made from it.
struct ParsedNetwork {
  Settings settings;
  std::vector<std::string> warnings;
  std::optional<Error> error;
  std::unique_ptr<AttachmentDriver> driver;
};

struct PluginKind {
  std::string type;  // in configurations and records
  std::function<ParsedNetwork(const cni::Call& call, const json::Value& document,
                              const NodeConfig& node)>
      parse;
};

template <typename Driver, typename Config, typename DriverConfig>
ParsedNetwork with_driver(ParsedConfig<Config> parsed, DriverConfig Config::*of_driver) {
  auto driver = std::make_unique<Driver>(std::move(parsed.config.*of_driver));
  return {std::move(parsed.config), std::move(parsed.warnings), std::move(parsed.error),
          std::move(driver)};
}

class Plugin : public cni::Plugin {
 public:
  Plugin(PluginKind kind, PluginDeps deps, log::Log& log)
      : kind_(std::move(kind)), deps_(std::move(deps)), log_(log) {}

  // Logs how the call ended, and the time it spent in each part.
  void finish(const std::optional<cni::Failure>& failure) { log_.finish(failure); }

  // Reads the network, opens the log and makes the driver.
  void prepare(const cni::Call& call, const json::Value& document) override;
  // Refuses a wrong configuration, except for DEL.
  Status configure(const cni::Call& call, const cni::Network& network) override;
  Result<cni::AddResult> add() override;
  Status del() override;
  Status check() override;
  Status gc() override;
  Status status() override;

 private:
  // The kernel and the records, opened for one verb.
  struct OpenNode {
    std::unique_ptr<node::Kernel> kernel, traced;
    node::Records records;
    std::string boot_id;
  };
  Result<OpenNode> open_node();
  Context context_of(const OpenNode& open);
  Status check_recorded_here() const;
  bool expects_records() const;

  PluginKind kind_;
  PluginDeps deps_;
  CallLogWriter log_;
  Result<NodeConfig> node_ = NodeConfig();
  ParsedNetwork network_read_;
  const cni::Call* call_ = nullptr;
  const cni::Network* network_ = nullptr;
  AgentRequiredFile required_file_{kStateFolder};  // the one in effect, set by configure()
};

// The main function of a plugin: serves the one call in the environment and standard input, and
// returns the exit code. Without CNI_COMMAND a user has started it: prints `about`, one line.
int run(PluginKind kind, const std::string& about, char** environment);

}  // namespace ibpod::attach
