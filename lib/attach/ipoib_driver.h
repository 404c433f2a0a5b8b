// An IPoIB child of one of the host's interfaces as what a plugin gives a pod.
#pragma once

#include "lib/attach/attachment_driver.h"
#include "lib/ib/pci_address.h"
#include "lib/ib/pkey.h"
#include "lib/nl/rtnl.h"

#include <optional>
#include <string>
#include <utility>

namespace ibpod::attach {

// What a network's configuration orders for one attachment. The master is named by `master`, or by
// the function that it is made of, or by both.
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
  // Without its master no ADD of this network can succeed here.
  Status check_node(const Context& context) const override;
  // denied for a master on a VF that the kubelet has not given to the pod (agent_client.h), whether
  // a pool of the agent's has it or not: another device plugin may. A PF, and a VF that the node's
  // file names under masterVfs, are everybody's. What is no usable master is check_usable's.
  Result<bool> resolve(const Context& context, Deadline deadline) override;
  Status check_allowed(const Context&) const override { return ok(); }
  // A master that is missing, no InfiniBand, or a child itself; an MTU above that of the mode.
  Result<std::optional<node::Function>> check_usable(const Context& context) const override;
  // The record, and nothing else: the port may not have the P_Key yet.
  Status attach(const Context& context, node::Record& record, Deadline deadline) const override;
  // Waits for the P_Key in the port's table, makes the child and gives it to the pod, waits for its
  // carrier: the broadcast group of the partition.
  Result<ReadyResult> wait_ready(const Context& context, node::Record& record,
                                 IndexRequirement requirement, Deadline deadline) const override;
  Status publish(const Context& context, const node::Record& record,
                 const std::optional<TableEntry>& membership,
                 const std::optional<node::Function>& before) const override;
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

// Removes children of ours on the host that no record speaks of (node/child.h): after a
// record was lost, or removed by hand.
Status remove_stray_children(const Context& context);

}  // namespace ibpod::attach
