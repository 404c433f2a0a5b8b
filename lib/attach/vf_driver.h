// A VF, or something on vfio-pci, as what a plugin gives a pod.
#pragma once

#include "lib/attach/attachment_driver.h"
#include "lib/base/files.h"
#include "lib/ib/pci_address.h"

#include <optional>
#include <string>
#include <utility>

namespace ibpod::attach {

// What a network's configuration orders for one attachment.
struct VfConfig {
  ib::PciAddress device;
  node::Spec spec;
  // vfioPciMode: the device has to be on vfio-pci. Without it, that is looked up.
  bool vfio = false;
  // CNIDeviceInfoFile; empty: none.
  Path device_info;
  // resourceName: of which the node's agent knows what the kubelet gave a pod; for a runtime that
  // names no deviceID. Empty: none.
  std::string resource;
  std::string guid_key;                   // the key that asks for a GUID; empty: none does
  bool ib_kubernetes = false;             // ibKubernetesEnabled
  bool ib_kubernetes_configured = false;  // ... and it has said so for this pod
};

class VfDriver : public AttachmentDriver {
 public:
  explicit VfDriver(VfConfig config) : config_(std::move(config)) {}

  std::string subject() const override;
  std::string folder(const cni::Call&) const override { return subject(); }
  const node::Spec& spec() const override { return config_.spec; }
  Status check_node(const Context& context) const override;
  Result<bool> resolve(const Context& context, Deadline deadline) override;
  Status check_allowed(const Context& context) const override;
  // A function that is none or cannot be given, isolation in shared mode.
  Result<std::optional<node::Function>> check_usable(const Context& context) const override;
  Status attach(const Context& context, node::Record& record, Deadline deadline) const override;
  Result<ReadyResult> wait_ready(const Context& context, node::Record& record,
                                 IndexRequirement requirement, Deadline deadline) const override;
  Status publish(const Context& context, const node::Record& record,
                 const std::optional<TableEntry>& membership,
                 const std::optional<node::Function>& before) const override;
  Status check(const Context& context, const node::Record& record,
               IndexRequirement requirement) const override;
  Status collect_strays(const Context&) const override { return ok(); }

 private:
  Result<std::string> ask_agent(const Context& context, Deadline deadline) const;
  Status check_requested_guid() const;
  Result<node::Function> usable_function(const Context& context) const;
  Status move_to_pod_when_granted(const Context& context, const node::Record& record,
                                  Deadline deadline) const;
  Status use_full_key(const Context& context, const node::Record& record, Deadline deadline) const;

  VfConfig config_;  // with the device, from resolve() on
};

// Isolation needs the RDMA subsystem in exclusive mode: unsupported, saying how to get there.
Status check_isolation(const Context& context);

}  // namespace ibpod::attach
