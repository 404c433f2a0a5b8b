// The plugin "ib-sriov": an SR-IOV virtual function with an InfiniBand port, for a pod.
#pragma once

#include "cni/ib-sriov/config.h"
#include "lib/attach/context.h"
#include "lib/cni/plugin.h"
#include "lib/log/log.h"
#include "lib/node/kernel.h"
#include "lib/node/traced_kernel.h"

#include <functional>
#include <memory>
#include <optional>

namespace ibpod::ib_sriov {

// What main builds the plugin on, and a test something else.
struct World {
  std::function<Result<std::unique_ptr<node::Kernel>>()> open_kernel;
  std::function<Result<std::string>()> boot_id;
};

class IbSriov : public cni::Plugin {
 public:
  IbSriov(World world, log::Log& log) : world_(std::move(world)), log_(log) {}

  // Says in the log how the call ended, and where its time went.
  void finish(const std::optional<cni::Failure>& failure);

  void prepare(const cni::Call& call, const json::Value& document) override;
  Status configure(const cni::Call& call, const cni::Network& network) override;
  Result<cni::AddResult> add() override;
  Status del() override;
  Status check() override;
  Status gc() override;
  Status status() override;

 private:
  // The world as a verb needs it, opened for it.
  struct Stage;
  Result<std::unique_ptr<Stage>> open_stage();
  void name_call(const cni::Call& call, const json::Value& document);
  void open_log();
  void warn(const std::vector<std::string>& warnings);
  Status check_ib_kubernetes(const attach::Context& context) const;

  void observe(const node::Step& step);
  int64_t& time_of(node::StepKind kind);

  World world_;
  log::Log& log_;
  // Where this call's time went so far, in microseconds.
  int64_t kernel_us_ = 0, wait_us_ = 0, outside_us_ = 0;
  const cni::Call* call_ = nullptr;
  const cni::Network* network_ = nullptr;
  Config config_;  // from prepare() on as far as it can be read, from configure() on as it is
};

}  // namespace ibpod::ib_sriov
