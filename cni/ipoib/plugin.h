// The plugin "ipoib": an IPoIB child of one of the host's interfaces, for a pod.
#pragma once

#include "cni/ipoib/config.h"
#include "lib/attach/ipoib_driver.h"
#include "lib/attach/plugin.h"

namespace ibpod::ipoib {

class Ipoib : public attach::Plugin {
 public:
  Ipoib(attach::World world, log::Log& log) : Plugin("ipoib", std::move(world), log) {}

 protected:
  void read_remains(const cni::Call& call, const json::Value& document) override;
  Status read(const cni::Call& call, const cni::Network& network) override;
  const attach::Settings& settings() const override { return config_; }
  node::Wanted& wanted() override { return config_.order.wanted; }
  attach::Endpoint& endpoint() override { return endpoint_; }
  std::string subject() const override;
  std::string folder(const cni::Call& call) const override { return endpoint_.folder(call); }
  Result<bool> complete(const attach::Context& context, Deadline deadline) override;
  Status check_node(const attach::Context& context) override;
  Status sweep(const attach::Context& context, Deadline deadline) const override;

 private:
  Config config_;  // from prepare() on as far as it can be read, from configure() on as it is
  attach::ChildEndpoint endpoint_{config_.order};
};

}  // namespace ibpod::ipoib
