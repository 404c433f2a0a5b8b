// Fabrics: those that the node's PFs are on, each with the SM service that has it. Which one a PF
// is on its port's subnet prefix tells; what is bound for a VF is bound there.
#pragma once

#include "agent/config/config.h"
#include "agent/fabric/link.h"
#include "agent/fabric/pf_port.h"
#include "lib/sysfs/sysfs.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::agent {

// What they need of the node. All of it outlives them.
struct FabricsWorld {
  const node::Records& records;
  const sysfs::Sysfs& sysfs;
  std::string node;
  // The interface of a PF; empty: it has none.
  std::function<std::string(const ib::PciAddress& pf)> interface;
  // The P_Key tables of these ports, but of none that is up on a subnet of another prefix.
  std::function<std::vector<fabricapi::ObserveRequest::Seen>(const std::vector<ib::Guid>& ports,
                                                             const std::optional<ib::Guid>& prefix)>
      tables;
  // How the service of a fabric is reached now, and was before. On the thread of its Link.
  std::function<void(const std::string& fabric, const Contact& before, const Contact& now)> told;
};

// But for begin(), from any thread.
class Fabrics {
 public:
  // `services` as Config has them, one at the least. invalid or not_found where one of them cannot
  // be asked at all (fabricapi::Place).
  static Result<std::unique_ptr<Fabrics>> open(const std::vector<FabricService>& services,
                                               FabricsWorld world);
  // Names to each service what is attached, and binds what has been lost, from now on.
  void begin();

  std::map<std::string, Contact> contacts() const;

  // For one preparation: the GUID of a PF's VF, out of the pool of the service that has the PF's
  // fabric. A service that has not answered is not asked again.
  std::function<Result<ib::Guid>(const ib::PciAddress& pf, uint32_t vf)> pool();

  // As nodeapi::Node has them. Where it is not to be seen which fabric the device is on, all of
  // them are told of the end.
  Result<nodeapi::Binding> bind(const nodeapi::AttachmentName& name, nodeapi::Node::Wait wait,
                                Deadline deadline);
  Result<nodeapi::Binding> unbind(const nodeapi::AttachmentName& name, Deadline deadline);

 private:
  struct Fabric {
    FabricService service;
    fabricapi::Client client;
    std::unique_ptr<Link> link = {};  // since begin()
    const std::string& name() const { return service.place.fabric; }
  };
  explicit Fabrics(FabricsWorld world) : world_(std::move(world)) {}
  LinkWorld world_of(const Fabric& fabric);
  void note(const std::string& fabric, const Contact& contact);
  // unsupported where the PF is on none of them, unavailable where that cannot be told now.
  Status check_on(const PfPort& port, const Fabric& fabric) const;
  Result<Fabric*> of(const ib::PciAddress& device);
  Result<Fabric*> giver(const ib::PciAddress& pf);
  Result<PfOfDevice> pf_on(const ib::PciAddress& device, const Fabric& fabric) const;
  Result<Link*> link_of(const nodeapi::AttachmentName& name);
  Result<nodeapi::Binding> unbind_everywhere(const nodeapi::AttachmentName& name,
                                             Deadline deadline);

  const FabricsWorld world_;
  mutable std::mutex mutex_;
  std::map<std::string, Contact> contacts_;  // guarded by mutex_
  std::vector<Fabric> fabrics_;              // those of open()
};

}  // namespace ibpod::agent
