// Plugin: a CNI plugin of attachments. Its kind says how a network is read, and which driver
// carries it out; the verbs (verbs.h) are the same for all.
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

// What main builds the plugin on, and a test something else.
struct PluginDeps {
  std::function<Result<std::unique_ptr<node::Kernel>>()> open_kernel;
  std::function<Result<std::string>()> boot_id;
  Connect agent;
  // Asked once a call.
  std::function<Result<NodeConfig>()> node_config;
};

// A network as a plugin has read it (ParsedConfig), and the driver made of that.
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

  // Says in the log how the call ended, and where its time went.
  void finish(const std::optional<cni::Failure>& failure) { log_.finish(failure); }

  // Reads the network, opens the log and makes the driver.
  void prepare(const cni::Call& call, const json::Value& document) override;
  // Refuses what was read, but for DEL.
  Status configure(const cni::Call& call, const cni::Network& network) override;
  Result<cni::AddResult> add() override;
  Status del() override;
  Status check() override;
  Status gc() override;
  Status status() override;

 private:
  // What a verb works on, opened for it.
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
  AgentRequiredFile required_file_{kStateFolder};  // that holds for this call, from configure() on
};

// The main function of a plugin. Serves the one call that the environment and standard input say,
// on this machine; returns the exit code. Without CNI_COMMAND a person has called it, who is told
// what it is: `about`, a line.
int run(PluginKind kind, const std::string& about, char** environment);

}  // namespace ibpod::attach
