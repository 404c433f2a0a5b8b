// Plugin: a CNI plugin of attachments, but for what it reads in its configuration and gives a pod.
#pragma once

#include "lib/attach/agent_required_file.h"
#include "lib/attach/attachment_driver.h"
#include "lib/attach/context.h"
#include "lib/attach/keys.h"
#include "lib/cni/plugin.h"
#include "lib/log/log.h"
#include "lib/node/kernel.h"
#include "lib/node/traced_kernel.h"
#include "lib/nodeapi/node.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace ibpod::attach {

// What main builds the plugin on, and a test something else.
struct PluginDeps {
  std::function<Result<std::unique_ptr<node::Kernel>>()> open_kernel;
  std::function<Result<std::string>()> boot_id;
  Connect agent;
  // Asked once a call.
  std::function<Result<NodeConfig>()> node_config;
};

class Plugin : public cni::Plugin {
 public:
  // `name` is the plugin's type in configurations and records.
  Plugin(std::string name, PluginDeps deps, log::Log& log)
      : name_(std::move(name)), deps_(std::move(deps)), log_(log) {}

  // Says in the log how the call ended, and where its time went.
  void finish(const std::optional<cni::Failure>& failure);

  void prepare(const cni::Call& call, const json::Value& document) override;
  Status configure(const cni::Call& call, const cni::Network& network) override;
  Result<cni::AddResult> add() override;
  Status del() override;
  Status check() override;
  Status gc() override;
  Status status() override;

 protected:
  // Reads what can be read of a configuration that may be wrong; then all of one that must not be.
  virtual void read_lenient(const cni::Call& call, const json::Value& document) = 0;
  virtual Status read(const cni::Call& call, const cni::Network& network) = 0;
  // What has been read. If the node's agent binds, the P_Keys become a request
  // (to_partition_request).
  virtual const Settings& settings() const = 0;
  // What the node says, for them; the defaults if that cannot be read, with which no verb begins.
  const NodeConfig& node() const { return node_; }
  virtual node::Spec& spec() = 0;
  virtual AttachmentDriver& driver() = 0;
  // What it is about, for the log, and where records of it are (attachment_driver.h); empty: not
  // known.
  virtual std::string subject() const = 0;
  virtual std::string folder(const cni::Call& call) const = 0;

  // For ADD and CHECK: finds out what the configuration leaves open. False: this pod has no part in
  // the network; ADD answers with an empty result then.
  virtual Result<bool> complete(const Context& context, Deadline deadline);
  // The node's agent, at the socket of the mark, else of the configuration, else the usual one.
  std::unique_ptr<nodeapi::Node> agent() const;
  // From now on each line of the log says which device it is about.
  void name_subject() { log_.always("device", subject()); }

  // What else an ADD, STATUS and GC of this kind have to look after. `binds`: who is in which
  // partition is the SM service's to say here, by the node's agent.
  virtual Status check_ready(const Context& context, bool sm_managed) const;
  virtual Status check_node(const Context& context) = 0;
  virtual Status collect_strays(const Context& context, Deadline deadline) const;

 private:
  Result<cni::AddResult> add_by(Deadline deadline);
  // The world as a verb needs it, opened for it.
  struct VerbContext;
  Result<std::unique_ptr<VerbContext>> open_verb_context();
  void name_call(const cni::Call& call, const json::Value& document);
  void open_log();
  Status check_recorded_here() const;
  bool needs_agent() const;
  bool expects_records() const;
  Status check_partition();
  Result<bool> check_standalone(Deadline deadline) const;
  Result<bool> await_agent(const Context& context, Deadline deadline) const;
  void warn(const std::vector<std::string>& warnings);

  void observe(const node::Step& step);
  int64_t& time_of(node::StepKind kind);

  std::string name_;
  PluginDeps deps_;
  log::Log& log_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  // Where this call's time went so far, in microseconds.
  int64_t kernel_us_ = 0, wait_us_ = 0, outside_us_ = 0;
  const cni::Call* call_ = nullptr;
  const cni::Network* network_ = nullptr;
  NodeConfig node_;
  Status node_read_ = ok();
  AgentRequiredFile required_file_{kStateFolder};  // that holds for this call, from configure() on
};

}  // namespace ibpod::attach
