#include "lib/node/traced_kernel.h"

#include <memory>

namespace ibpod::node {
namespace {

using Clock = std::chrono::steady_clock;

class TracedKernel : public Kernel {
 private:
  static std::string towards(const Namespace& where) {
    return where.is_host() ? " to the host" : " to the pod";
  }

  template <typename Call>
  auto trace_step(const std::string& what, StepKind kind, Call call) {
    const Clock::time_point begin = Clock::now();
    auto result = call();
    observer_({what, std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin),
               result ? nullptr : &result.error(), kind});
    return result;
  }

  template <typename Call>
  auto trace_question(const std::string& what, Call call) {
    return trace_step(what, StepKind::question, call);
  }
  template <typename Call>
  auto trace_order(const std::string& what, Call call) {
    return trace_step(what, StepKind::order, call).during(what);
  }

 public:
  TracedKernel(Kernel& kernel, Observer observer)
      : kernel_(kernel), observer_(std::move(observer)) {}

  Result<std::optional<Function>> function(const ib::PciAddress& address) override {
    return trace_question("read the function " + address.text(),
                          [&] { return kernel_.function(address); });
  }
  Result<std::vector<std::string>> char_devices(const ib::PciAddress& address) override {
    return trace_question("list the character devices of " + address.text(),
                          [&] { return kernel_.char_devices(address); });
  }
  Result<std::vector<ib::PciAddress>> pfs() override {
    return trace_question("list the PFs", [&] { return kernel_.pfs(); });
  }
  Result<std::optional<Pf>> pf(const ib::PciAddress& address) override {
    return trace_question("read the PF " + address.text(), [&] { return kernel_.pf(address); });
  }
  Result<nl::RdmaNetnsMode> rdma_netns_mode() override {
    return trace_question("read the RDMA namespace mode",
                          [&] { return kernel_.rdma_netns_mode(); });
  }
  Result<std::optional<Namespace>> find_namespace(const Path& path) override {
    return trace_question("find the namespace " + path.string(),
                          [&] { return kernel_.find_namespace(path); });
  }
  Result<netns::NetnsStatus> namespace_status(const Namespace& recorded) override {
    return trace_question("identify the namespace at " + recorded.path.string(),
                          [&] { return kernel_.namespace_status(recorded); });
  }
  Result<std::optional<Error>> each_namespace(Deadline deadline,
                                              const NamespaceVisitor& visit) override {
    return trace_question("visit all network namespaces",
                          [&] { return kernel_.each_namespace(deadline, visit); });
  }
  Result<std::optional<Netdev>> find_netdev(const Namespace& where,
                                            const std::string& name) override {
    return trace_question("find the interface " + name,
                          [&] { return kernel_.find_netdev(where, name); });
  }
  Result<std::vector<Netdev>> netdevs(const Namespace& where,
                                      const ib::PciAddress& function) override {
    return trace_question("list the interfaces of " + function.text(),
                          [&] { return kernel_.netdevs(where, function); });
  }
  Result<std::vector<Netdev>> own_netdevs(const Namespace& where,
                                          const ib::PciAddress& function) override {
    return trace_question("list the interfaces of " + function.text(),
                          [&] { return kernel_.own_netdevs(where, function); });
  }
  Result<std::vector<Netdev>> ipoib_netdevs(const Namespace& where) override {
    return trace_question("list the IPoIB interfaces",
                          [&] { return kernel_.ipoib_netdevs(where); });
  }
  Result<std::vector<uint32_t>> ipoib_queue_pairs(const ib::PciAddress& function) override {
    return trace_question("list the IPoIB queue pairs of " + function.text(),
                          [&] { return kernel_.ipoib_queue_pairs(function); });
  }
  Result<std::vector<RdmaUser>> rdma_users(const ib::PciAddress& function) override {
    return trace_question("list the users of the RDMA devices of " + function.text(),
                          [&] { return kernel_.rdma_users(function); });
  }
  Result<std::optional<ib::PciAddress>> function_of(const std::string& netdev) override {
    return trace_question("find the PCI function of " + netdev,
                          [&] { return kernel_.function_of(netdev); });
  }
  Result<std::vector<RdmaDevice>> rdma_devices(const Namespace& where,
                                               const ib::PciAddress& function) override {
    return trace_question("list the RDMA devices of " + function.text(),
                          [&] { return kernel_.rdma_devices(where, function); });
  }
  Result<std::vector<std::string>> rdma_names(const Namespace& where,
                                              const ib::PciAddress& function) override {
    return trace_question("list the RDMA devices of " + function.text(),
                          [&] { return kernel_.rdma_names(where, function); });
  }
  Result<ib::Port> port(const Namespace& where, const std::string& rdma_device) override {
    return trace_question("read the port of " + rdma_device,
                          [&] { return kernel_.port(where, rdma_device); });
  }
  Result<ib::Port> port_up_to(const Namespace& where, const std::string& rdma_device,
                              ib::PKey key) override {
    return trace_question("read port 1 of " + rdma_device,
                          [&] { return kernel_.port_up_to(where, rdma_device, key); });
  }
  Result<nl::VfSettings> vf_settings(const Function& vf) override {
    return trace_question("read the PF's settings of VF " + std::to_string(vf.vf),
                          [&] { return kernel_.vf_settings(vf); });
  }
  Result<std::vector<nl::LinkAddress>> addresses(const Namespace& where, IfIndex netdev) override {
    return trace_question("list addresses", [&] { return kernel_.addresses(where, netdev); });
  }
  Result<std::vector<nl::Route>> routes(const Namespace& where, IfIndex netdev) override {
    return trace_question("list routes", [&] { return kernel_.routes(where, netdev); });
  }
  Result<HostNetwork> host_network() override {
    return trace_question("read the use of the host's links",
                          [&] { return kernel_.host_network(); });
  }

  Status set_vf_count(const ib::PciAddress& pf, uint32_t count) override {
    return trace_order("create " + std::to_string(count) + " VFs of " + pf.text(),
                       [&] { return kernel_.set_vf_count(pf, count); });
  }
  Status set_autoprobe(const ib::PciAddress& pf, bool on) override {
    return trace_order("turn autoprobe of " + pf.text() + (on ? " on" : " off"),
                       [&] { return kernel_.set_autoprobe(pf, on); });
  }
  Status set_rdma_netns_mode(nl::RdmaNetnsMode mode) override {
    return trace_order("set the RDMA namespace mode",
                       [&] { return kernel_.set_rdma_netns_mode(mode); });
  }
  Status set_vf_guids(const Function& vf, ib::Guid node, ib::Guid port) override {
    return trace_order("set the GUIDs of VF " + std::to_string(vf.vf) + " to " + node.text() +
                           " and " + port.text(),
                       [&] { return kernel_.set_vf_guids(vf, node, port); });
  }
  Status set_vf_policy(const Function& vf, LinkPolicy policy) override {
    return trace_order("set the link policy of VF " + std::to_string(vf.vf),
                       [&] { return kernel_.set_vf_policy(vf, policy); });
  }
  Status set_driver(const ib::PciAddress& function,
                    const std::optional<std::string>& driver) override {
    return trace_order(
        driver ? "bind " + function.text() + " to " + *driver : "unbind " + function.text(),
        [&] { return kernel_.set_driver(function, driver); });
  }
  Status move_rdma(const Namespace& from, const std::string& device, const Namespace& to) override {
    return trace_order("move the RDMA device " + device + towards(to),
                       [&] { return kernel_.move_rdma(from, device, to); });
  }
  Status rename_rdma(const Namespace& where, const std::string& device,
                     const std::string& name) override {
    return trace_order("rename the RDMA device " + device + " to " + name,
                       [&] { return kernel_.rename_rdma(where, device, name); });
  }
  Status move_netdev(const Namespace& from, IfIndex netdev, const Namespace& to,
                     const std::string& name) override {
    return trace_order("move the interface" + towards(to) + " as " + name,
                       [&] { return kernel_.move_netdev(from, netdev, to, name); });
  }
  Status change_netdev(const Namespace& where, IfIndex netdev,
                       const NetdevChange& change) override {
    return trace_order("change the interface" + (change.name ? " " + *change.name : ""),
                       [&] { return kernel_.change_netdev(where, netdev, change); });
  }
  Status create_child(IfIndex parent, const nl::NewChild& child) override {
    return trace_order(
        "create the IPoIB child " + child.name + " with the P_Key " + child.pkey.text(),
        [&] { return kernel_.create_child(parent, child); });
  }
  Status remove_netdev(const Namespace& where, IfIndex netdev) override {
    return trace_order("remove an interface", [&] { return kernel_.remove_netdev(where, netdev); });
  }
  Status configure(const Namespace& where, IfIndex netdev, const Addressing& addressing,
                   Deadline deadline) override {
    return trace_order("set addresses and routes",
                       [&] { return kernel_.configure(where, netdev, addressing, deadline); });
  }
  Status announce(const Namespace& where, IfIndex netdev,
                  const std::vector<ip::Prefix>& addresses) override {
    return trace_order("announce the addresses",
                       [&] { return kernel_.announce(where, netdev, addresses); });
  }
  Result<bool> wait_for_change(Deadline deadline) override {
    return trace_step("wait", StepKind::wait, [&] { return kernel_.wait_for_change(deadline); });
  }

 private:
  Kernel& kernel_;
  Observer observer_;
};

}  // namespace

std::unique_ptr<Kernel> trace(Kernel& kernel, Observer observer) {
  return std::make_unique<TracedKernel>(kernel, std::move(observer));
}

}  // namespace ibpod::node
