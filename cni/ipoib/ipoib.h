// The plugin "ipoib": an IPoIB child of one of the host's interfaces, for a pod.
#pragma once

#include "cni/ipoib/config.h"
#include "lib/attach/ipoib_driver.h"
#include "lib/attach/plugin.h"

namespace ibpod::ipoib {

class Ipoib : public attach::Plugin {
 public:
  Ipoib(attach::PluginDeps deps, log::Log& log) : Plugin("ipoib", std::move(deps), log) {}

 protected:
  void read_lenient(const cni::Call& call, const json::Value& document) override;
  Status read(const cni::Call& call, const cni::Network& network) override;
  const attach::Settings& settings() const override { return config_; }
  node::Spec& spec() override { return config_.ipoib.spec; }
  attach::AttachmentDriver& driver() override { return driver_; }
  std::string subject() const override;
  std::string folder(const cni::Call& call) const override { return driver_.folder(call); }
  Result<bool> complete(const attach::Context& context, Deadline deadline) override;
  Status check_node(const attach::Context& context) override;
  Status collect_strays(const attach::Context& context, Deadline deadline) const override;

 private:
  Config config_;  // from prepare() on as far as it can be read, from configure() on as it is
  attach::IpoibDriver driver_{config_.ipoib};
};

}  // namespace ibpod::ipoib
