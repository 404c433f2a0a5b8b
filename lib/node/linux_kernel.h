// LinuxKernel: the Kernel that is really there, over netlink, sysfs and namespaces.
#pragma once

#include "lib/nl/uevent.h"
#include "lib/node/kernel.h"
#include "lib/node/listing.h"
#include "lib/sysfs/sysfs.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::node {

// For one thread. Its host namespace is the one that open() was called in.
class LinuxKernel : public Kernel {
 public:
  static Result<std::unique_ptr<LinuxKernel>> open(const Path& sys = "/sys");

  Result<std::optional<Function>> function(const ib::PciAddress& address) override;
  Result<std::vector<ib::PciAddress>> pfs() override;
  Result<std::optional<Pf>> pf(const ib::PciAddress& address) override;
  Result<nl::RdmaNetnsMode> rdma_netns_mode() override;
  Result<std::optional<Namespace>> find_namespace(const Path& path) override;
  Result<netns::NetnsStatus> namespace_status(const Namespace& recorded) override;
  Result<std::optional<Error>> each_namespace(Deadline deadline,
                                              const NamespaceVisitor& visit) override;
  Result<std::optional<Netdev>> find_netdev(const Namespace& where,
                                            const std::string& name) override;
  Result<std::vector<Netdev>> netdevs(const Namespace& where,
                                      const ib::PciAddress& function) override;
  Result<std::vector<Netdev>> ipoib_netdevs(const Namespace& where) override;
  Result<std::vector<uint32_t>> ipoib_queue_pairs(const ib::PciAddress& function) override;
  Result<std::optional<ib::PciAddress>> function_of(const std::string& netdev) override;
  Result<std::vector<RdmaDevice>> rdma_devices(const Namespace& where,
                                               const ib::PciAddress& function) override;
  Result<ib::Port> port(const Namespace& where, const std::string& rdma_device) override;
  Result<nl::VfSettings> vf_settings(const Function& vf) override;
  Result<std::vector<nl::LinkAddress>> addresses(const Namespace& where, IfIndex netdev) override;
  Result<std::vector<nl::Route>> routes(const Namespace& where, IfIndex netdev) override;
  Result<HostNetwork> host_network() override;

  Status set_vf_count(const ib::PciAddress& pf, uint32_t count) override;
  Status set_autoprobe(const ib::PciAddress& pf, bool on) override;
  Status set_rdma_netns_mode(nl::RdmaNetnsMode mode) override;
  Status set_vf_guids(const Function& vf, ib::Guid node, ib::Guid port) override;
  Status set_vf_policy(const Function& vf, LinkPolicy policy) override;
  Status set_driver(const ib::PciAddress& function,
                    const std::optional<std::string>& driver) override;
  Status move_rdma(const Namespace& from, const std::string& device, const Namespace& to) override;
  Status rename_rdma(const Namespace& where, const std::string& device,
                     const std::string& name) override;
  Status move_netdev(const Namespace& from, IfIndex netdev, const Namespace& to,
                     const std::string& name) override;
  Status change_netdev(const Namespace& where, IfIndex netdev, const NetdevChange& change) override;
  Status create_child(IfIndex parent, const nl::NewChild& child) override;
  Status remove_netdev(const Namespace& where, IfIndex netdev) override;
  Status configure(const Namespace& where, IfIndex netdev, const Addressing& addressing,
                   Deadline deadline) override;
  Status announce(const Namespace& where, IfIndex netdev,
                  const std::vector<ip::Prefix>& addresses) override;
  Result<bool> wait_for_change(Deadline deadline) override;

 private:
  // A namespace with all that talks to it.
  struct View {
    netns::NetNs netns;
    netns::Identity identity;
    nl::Socket route;
    std::optional<nl::Socket> rdma;  // once it was asked for: a node may get its modules later
    sysfs::Sysfs sysfs;
    nl::Socket events;
  };
  LinuxKernel(View host, nl::Uevents uevents)
      : host_(std::move(host)), uevents_(std::move(uevents)) {}
  static Result<View> open_view(netns::NetNs netns, sysfs::Sysfs sysfs);
  static Result<View> open_pod_view(const Namespace& where);
  Result<View*> view(const Namespace& where);
  Result<netns::Identity> identity_of(const netns::NetNs& netns, const Path& path) const;
  // unsupported where the kernel has no RDMA subsystem (yet).
  static Result<nl::Socket*> rdma_of(View& view);
  static Status rename_unlistable(View& view);
  void close_other();
  Pause pause();
  Result<IfIndex> pf_netdev(const Function& vf);
  Status apply(View& view, IfIndex netdev, const Addressing& addressing, Deadline deadline);
  static Status allow_ipv6(View& view, IfIndex netdev, const std::vector<ip::Prefix>& addresses);
  Status settle(nl::Socket& route, IfIndex netdev, const std::vector<ip::Prefix>& addresses,
                Deadline deadline);

  View host_;
  nl::Uevents uevents_;
  std::map<Path, View> pods_;
  // The last namespace that each_namespace() has shown, open: its path leads to this descriptor.
  std::optional<netns::NetNs> other_;
};

}  // namespace ibpod::node
