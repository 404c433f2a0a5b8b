// The driver of attachments that are an IPoIB child of one of the host's interfaces.
#pragma once

#include "lib/attach/attachment_driver.h"
#include "lib/ib/pci_address.h"
#include "lib/ib/pkey.h"
#include "lib/nl/rtnl.h"

#include <optional>
#include <string>
#include <utility>

namespace ibpod::attach {

// One attachment's configuration. The master is named by `master`, by the PCI function that it
// belongs to, or by both.
struct IpoibConfig {
  std::string master;                 // an interface of the host; empty: the function's
  ib::PciAddress device;              // empty: the master's
  node::Spec spec;                    // without a P_Key: the master's
  std::optional<nl::IpoibMode> mode;  // nothing: the master's
  bool umcast = true;
};

class IpoibDriver : public AttachmentDriver {
 public:
  explicit IpoibDriver(IpoibConfig config) : config_(std::move(config)) {}

  std::string subject() const override;
  std::string folder(const cni::Call& call) const override;
  const node::Spec& spec() const override { return config_.spec; }
  // Fails if the master is missing: then no ADD of this network can succeed.
  Status check_node(const Context& context) const override;
  // denied for a master on a VF that the kubelet has not given to the pod (agent_client.h), in a
  // pool of the agent's or not: it may be another device plugin's. Any pod may use a PF, and a VF
  // listed under masterVfs. check_usable() checks the rest.
  Result<bool> resolve(const Context& context, Deadline deadline) override;
  Status check_allowed(const Context&) const override { return ok(); }
  // Refuses a master that is missing, not InfiniBand, or a child, and an MTU above that of the
  // mode.
  Result<std::vector<std::string>> check_usable(const Context& context) const override;
  // Only writes the record: the port may not have the P_Key yet.
  Status attach(const Context& context, node::Record& record, Deadline deadline) const override;
  // Waits for the P_Key in the port's table, makes the child, moves it to the pod, and waits for
  // its carrier, which shows that it has joined the partition's broadcast group.
  Result<ReadyResult> wait_ready(const Context& context, node::Record& record,
                                 IndexRequirement requirement, Deadline deadline) const override;
  Status publish(const Context& context, const node::Record& record,
                 const std::optional<TableEntry>& membership,
                 const std::vector<std::string>& char_devices) const override;
  Status check(const Context& context, const node::Record& record,
               IndexRequirement requirement) const override;
  Status collect_strays(const Context& context) const override;

 private:
  struct Master {
    node::Netdev netdev;
    ib::PciAddress function;
    ib::Guid port;
  };
  static Result<ib::Guid> port_of(const Context& context, const Master& master);
  Status move_to_pod(const Context& context, node::Record& record, ib::PKey key,
                     Deadline deadline) const;
  Result<node::Netdev> find_master(const Context& context) const;
  Result<Master> usable_master(const Context& context, const node::Spec& spec) const;
  Status check_allocated(const Context& context, Deadline deadline) const;

  IpoibConfig config_;
};

// Removes children of ours on the host that have no record (node/child.h), because it was lost or
// removed by hand.
Status remove_stray_children(const Context& context);

}  // namespace ibpod::attach
