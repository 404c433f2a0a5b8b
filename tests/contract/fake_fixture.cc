// The model as a bed. CONTRACT_KERNEL says which kernel it models: 6.1, or 7 where nothing is
// said.
#include "tests/contract/kernel_contract.h"
#include "tests/support/fake_kernel.h"

#include <cstdlib>
#include <string_view>

namespace ibpod::contract {
namespace {

class FakeFixture : public Fixture {
 public:
  FakeFixture() : kernel_(fake::node_with(2, 4)) {
    const char* modelled = std::getenv("CONTRACT_KERNEL");
    if (modelled != nullptr && std::string_view(modelled) == "6.1") return;
    kernel_.ipoib_reappears = fake::IpoibReappears::in_target;
    kernel_.renames_while_up = true;
    kernel_.reuses_rdma_names = true;
    kernel_.rdma_names_per_namespace = true;
  }

  ib::PciAddress vf() const override { return fake::vf_address(0, 2); }
  std::optional<ib::PciAddress> spare_pf() override { return fake::pf_address(1); }
  node::Kernel& kernel() override { return kernel_; }
  node::Namespace make_pod(const std::string& name) override {
    return kernel_.make_namespace("/run/netns/" + name);
  }
  void kill_pod(const node::Namespace& pod) override { kernel_.kill_namespace(pod.identity); }
  void hide_pod(const node::Namespace& pod) override { kernel_.hide_namespace(pod.path); }
  void add_netdev(const node::Namespace& where, const std::string& name,
                  nl::IfIndex index) override {
    kernel_.add_netdev(where.path, name, index);
  }
  void remove_netdev(const node::Namespace& where, const std::string& name) override {
    kernel_.remove_netdev(where, kernel_.interface(where.path, name).index.value).value();
  }
  void add_child(const node::Namespace& where, const std::string& parent, const std::string& name,
                 ib::PKey key) override {
    kernel_.add_child(where.path, parent, name, key);
  }
  bool set_address(const node::Namespace& where, const std::string& name,
                   const nl::HardwareAddress& address) override {
    return kernel_.set_address(where.path, name, address).ok();
  }
  void open_rdma(const std::string&) override { kernel_.rdma_users_of[vf()] = {{.process = 4711}}; }
  void close_rdma() override { kernel_.rdma_users_of.clear(); }
  // configure() is the model's only way to an address, and it enables IPv6: there is nothing to
  // model.
  void disable_ipv6(const node::Namespace&) override {}

 private:
  fake::FakeKernel kernel_;
};

}  // namespace

std::unique_ptr<Fixture> make_fixture() { return std::make_unique<FakeFixture>(); }

}  // namespace ibpod::contract
