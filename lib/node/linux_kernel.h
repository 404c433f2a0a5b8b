// LinuxKernel: the Kernel that is really there, over netlink, sysfs and namespaces.
#pragma once

#include "lib/nl/uevent.h"
#include "lib/node/kernel.h"
#include "lib/node/listing.h"
#include "lib/node/namespace_view.h"
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
  Result<std::vector<std::string>> char_devices(const ib::PciAddress& address) override;
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
  Result<std::vector<Netdev>> own_netdevs(const Namespace& where,
                                          const ib::PciAddress& function) override;
  Result<std::vector<Netdev>> ipoib_netdevs(const Namespace& where) override;
  Result<std::vector<uint32_t>> ipoib_queue_pairs(const ib::PciAddress& function) override;
  Result<std::vector<RdmaUser>> rdma_users(const ib::PciAddress& function) override;
  Result<std::optional<ib::PciAddress>> function_of(const std::string& netdev) override;
  Result<std::vector<RdmaDevice>> rdma_devices(const Namespace& where,
                                               const ib::PciAddress& function) override;
  Result<std::vector<std::string>> rdma_names(const Namespace& where,
                                              const ib::PciAddress& function) override;
  Result<ib::Port> port(const Namespace& where, const std::string& rdma_device) override;
  Result<ib::Port> port_up_to(const Namespace& where, const std::string& rdma_device,
                              ib::PKey key) override;
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
  LinuxKernel(std::unique_ptr<NamespaceView> host, const sysfs::Sysfs& host_sysfs)
      : host_(std::move(host)), host_sysfs_(host_sysfs) {}
  Result<NamespaceView*> view(const Namespace& where);
  const NamespaceView* find_open(const Path& path) const;
  // Lists RDMA devices, and once more if one has a name that cannot be listed.
  template <typename List>
  static auto list_or_rename(NamespaceView& view, List list) -> decltype(list());
  static Status rename_unlistable(NamespaceView& view);
  void close_other();
  Pause pause();
  Result<IfIndex> pf_netdev(const Function& vf);
  Status apply(NamespaceView& view, IfIndex netdev, const Addressing& addressing,
               Deadline deadline);
  static Status allow_ipv6(NamespaceView& view, IfIndex netdev,
                           const std::vector<ip::Prefix>& addresses);
  Status settle(nl::Socket& route, IfIndex netdev, const std::vector<ip::Prefix>& addresses,
                Deadline deadline);

  Result<nl::RdmaIndex> index_of(const RdmaDevice& device);
  Result<bool> subscribe();

  std::unique_ptr<NamespaceView> host_;
  const sysfs::Sysfs& host_sysfs_;  // of host_
  std::optional<nl::Uevents> uevents_;
  // Those that were asked for, by their paths; one that is gone leaves with find_namespace().
  std::map<Path, std::unique_ptr<NamespaceView>> pods_;
  // The last namespace that each_namespace() has shown, open: its path leads to this descriptor.
  std::optional<netns::NetNs> other_;
};

}  // namespace ibpod::node
