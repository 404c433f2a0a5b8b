// The plugin "ib-sriov": an SR-IOV virtual function with an InfiniBand port, for a pod.
#pragma once

#include "cni/ib-sriov/config.h"
#include "lib/attach/plugin.h"
#include "lib/attach/vf_driver.h"

namespace ibpod::ib_sriov {

class IbSriov : public attach::Plugin {
 public:
  IbSriov(attach::PluginDeps deps, log::Log& log) : Plugin("ib-sriov", std::move(deps), log) {}

 protected:
  void read_lenient(const cni::Call& call, const json::Value& document) override;
  Status read(const cni::Call& call, const cni::Network& network) override;
  const attach::Settings& settings() const override { return config_; }
  node::Spec& spec() override { return config_.vf.spec; }
  attach::AttachmentDriver& driver() override { return driver_; }
  std::string subject() const override;
  std::string folder(const cni::Call&) const override { return subject(); }
  Result<bool> complete(const attach::Context& context, Deadline deadline) override;
  Status check_ready(const attach::Context& context, bool sm_managed) const override;
  Status check_node(const attach::Context& context) override;

 private:
  Status check_choice() const;
  Result<std::string> ask_agent(const attach::Context& context, Deadline deadline) const;

  Config config_;  // from prepare() on as far as it can be read, from configure() on as it is
  attach::VfDriver driver_{config_.vf};
};

}  // namespace ibpod::ib_sriov
