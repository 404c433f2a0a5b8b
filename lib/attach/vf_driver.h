// The driver of attachments that are a VF or a device on vfio-pci.
#pragma once

#include "lib/attach/attachment_driver.h"
#include "lib/base/files.h"
#include "lib/ib/pci_address.h"

#include <optional>
#include <string>
#include <utility>

namespace ibpod::attach {

// One attachment's configuration.
struct VfConfig {
  ib::PciAddress device;
  node::Spec spec;
  // vfioPciMode: requires vfio-pci. If false, the device's driver decides.
  bool vfio = false;
  // CNIDeviceInfoFile; empty: none.
  Path device_info;
  // resourceName, for a runtime that names no deviceID: the agent knows the pod's device of this
  // resource. Empty: none.
  std::string resource;
  std::string guid_key;                   // the key that requests a GUID; empty: none
  bool ib_kubernetes = false;             // ibKubernetesEnabled
  bool ib_kubernetes_configured = false;  // ... and ib-kubernetes has configured this pod
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
  // Refuses a function that does not exist or cannot be used, and isolation in shared mode.
  Result<std::vector<std::string>> check_usable(const Context& context) const override;
  Status attach(const Context& context, node::Record& record, Deadline deadline) const override;
  Result<ReadyResult> wait_ready(const Context& context, node::Record& record,
                                 IndexRequirement requirement, Deadline deadline) const override;
  Status publish(const Context& context, const node::Record& record,
                 const std::optional<TableEntry>& membership,
                 const std::vector<std::string>& char_devices) const override;
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

  VfConfig config_;  // its device is set by resolve()
};

// Isolation needs the RDMA subsystem in exclusive mode: unsupported, with the remedy.
Status check_isolation(const Context& context);

}  // namespace ibpod::attach
