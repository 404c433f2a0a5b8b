// A VF, or something on vfio-pci, as what a plugin gives a pod.
#pragma once

#include "lib/attach/attachment_driver.h"
#include "lib/base/files.h"
#include "lib/ib/pci_address.h"

namespace ibpod::attach {

// What a network's configuration orders for one attachment.
struct VfOrder {
  ib::PciAddress device;
  node::Wanted wanted;
  // vfioPciMode: the device has to be on vfio-pci. Without it, that is looked up.
  bool vfio = false;
  // CNIDeviceInfoFile; empty: none.
  Path device_info;
};

class VfEndpoint : public Endpoint {
 public:
  // `order` has to outlive it.
  explicit VfEndpoint(const VfOrder& order) : order_(order) {}

  std::string folder(const cni::Call& call) const override;
  // A function that is none or cannot be given, isolation in shared mode.
  Status check_usable(const Context& context) override;
  Status hand_over(const Context& context, node::Record& record, Deadline deadline) override;
  Result<Joined> join(const Context& context, node::Record& record, Place place,
                      Deadline deadline) override;
  Status tell(const Context& context, const node::Record& record,
              const std::optional<Membership>& membership) override;
  Status check(const Context& context, const node::Record& record, Place place) override;

 private:
  Result<node::Function> usable_function(const Context& context) const;
  Status give_granted(const Context& context, const node::Record& record, Deadline deadline) const;
  Status use_full_key(const Context& context, const node::Record& record, Deadline deadline) const;

  const VfOrder& order_;
  node::Function before_;  // the function, before anything was done to it
};

// Isolation needs the RDMA subsystem in exclusive mode: unsupported, saying how to get there.
Status check_isolation(const Context& context);

// CHECK of a VF, and of something that a virtual machine has (vf_check.cc).
Status check_vf(const Context& context, const node::Record& record, Place place);

}  // namespace ibpod::attach
