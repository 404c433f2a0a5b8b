// A VF, or something on vfio-pci, as what a plugin gives a pod.
#pragma once

#include "lib/attach/attachment_driver.h"
#include "lib/base/files.h"
#include "lib/ib/pci_address.h"

namespace ibpod::attach {

// What a network's configuration orders for one attachment.
struct VfConfig {
  ib::PciAddress device;
  node::Spec spec;
  // vfioPciMode: the device has to be on vfio-pci. Without it, that is looked up.
  bool vfio = false;
  // CNIDeviceInfoFile; empty: none.
  Path device_info;
};

class VfDriver : public AttachmentDriver {
 public:
  // `order` has to outlive it.
  explicit VfDriver(const VfConfig& config) : config_(config) {}

  std::string folder(const cni::Call& call) const override;
  // A function that is none or cannot be given, isolation in shared mode.
  Status check_usable(const Context& context) override;
  Status attach(const Context& context, node::Record& record, Deadline deadline) override;
  Result<ReadyResult> wait_ready(const Context& context, node::Record& record,
                                 IndexRequirement requirement, Deadline deadline) override;
  Status publish(const Context& context, const node::Record& record,
                 const std::optional<TableEntry>& membership) override;
  Status check(const Context& context, const node::Record& record,
               IndexRequirement requirement) override;

 private:
  Result<node::Function> usable_function(const Context& context) const;
  Status move_to_pod_when_granted(const Context& context, const node::Record& record,
                                  Deadline deadline) const;
  Status use_full_key(const Context& context, const node::Record& record, Deadline deadline) const;

  const VfConfig& config_;
  node::Function before_;  // the function, before anything was done to it
};

// Isolation needs the RDMA subsystem in exclusive mode: unsupported, saying how to get there.
Status check_isolation(const Context& context);

}  // namespace ibpod::attach
