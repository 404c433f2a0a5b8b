// The plugin "ib-sriov": an SR-IOV virtual function with an InfiniBand port, for a pod.
#pragma once

#include "cni/ib-sriov/config.h"
#include "lib/attach/plugin.h"
#include "lib/attach/vf_driver.h"

namespace ibpod::ib_sriov {

class IbSriov : public attach::Plugin {
 public:
  IbSriov(attach::World world, log::Log& log) : Plugin("ib-sriov", std::move(world), log) {}

 protected:
  void read_remains(const cni::Call& call, const json::Value& document) override;
  Status read(const cni::Call& call, const cni::Network& network) override;
  const attach::Settings& settings() const override { return config_; }
  node::Wanted& wanted() override { return config_.order.wanted; }
  attach::Endpoint& endpoint() override { return endpoint_; }
  std::string subject() const override;
  std::string folder(const cni::Call&) const override { return subject(); }
  Result<bool> complete(const attach::Context& context, Deadline deadline) override;
  Status check_ready(const attach::Context& context, bool binds) const override;
  Status check_node(const attach::Context& context) override;

 private:
  Status check_choice() const;
  Result<std::string> ask_agent(const attach::Context& context, Deadline deadline) const;

  Config config_;  // from prepare() on as far as it can be read, from configure() on as it is
  attach::VfEndpoint endpoint_{config_.order};
};

}  // namespace ibpod::ib_sriov
