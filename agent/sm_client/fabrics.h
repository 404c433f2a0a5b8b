// Fabrics: those that the node's PFs are on, each with the SM service that has it. Which one a PF
// is on its port's subnet prefix tells; what is bound for a VF is bound there.
#pragma once

#include "agent/config/config.h"
#include "agent/sm_client/node_ports.h"
#include "agent/sm_client/pf_port.h"
#include "agent/sm_client/sm_session.h"
#include "device-plugin/device.h"
#include "lib/sysfs/sysfs.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace ibpod::agent::sm_client {

// For so long a service may be away before devices are unhealthy for it: it may be restarted, or
// upgraded.
constexpr Duration kServiceGracePeriod = std::chrono::minutes(2);

// When a service was asked last, and when it has answered last; the epoch: never.
struct SmStatusTimes {
  std::chrono::system_clock::time_point last_asked = {}, last_answered = {};
};

// By which the node proves to a fabric's service which one it is.
struct NodeCertificate {
  Path file;             // with a token: its file
  Status state = ok();   // rpc::FollowedTls::state(): why it is not in use as it is on disk
  Status usable = ok();  // why the node cannot connect with it
  std::optional<std::chrono::system_clock::time_point> expires = {};  // nothing: it is unreadable
  bool is_token = false;  // each call shows a token, and the node has no certificate
};

// The interface of a PF; empty: it has none.
using InterfaceOf = std::function<std::string(const ib::PciAddress& pf)>;
// Called when the service of a fabric has become reachable or unreachable, on the thread of its
// LeaseLoop.
using StatusChanged =
    std::function<void(const std::string& fabric, const SmStatus& before, const SmStatus& now)>;

// The parts of the node that they use. All of them outlive the fabrics.
struct FabricsDeps {
  const node::Records& records;
  const sysfs::Sysfs& sysfs;
  std::string node;
  InterfaceOf interface_of;
  // The P_Key tables of these ports; one that is up on one of these other subnets comes last.
  std::function<std::vector<fabricapi::ObserveRequest::PortTable>(
      const std::vector<ib::Guid>& ports, const std::set<ib::Guid>& others)>
      read_tables;
  StatusChanged on_status;
  Duration grace_period = kServiceGracePeriod;
};

// bind() and unbind() are for after begin(), and with pool() from any thread.
class Fabrics {
 public:
  // `services` as Config has them, one at the least. invalid where the address of one is none.
  // Certificates that cannot be used are followed until they can be.
  static Result<std::unique_ptr<Fabrics>> open(const std::vector<config::FabricService>& services,
                                               FabricsDeps deps);
  // Waits for questions that are underway.
  ~Fabrics();
  // Names to each service what is attached, and binds what has been lost, from now on.
  void begin();

  std::map<std::string, SmStatus> sm_statuses() const;
  // By fabric; of one that has not been asked yet there are none.
  std::map<std::string, SmStatusTimes> sm_status_times() const;
  // As the files are now, by fabric; those that are asked over TLS.
  std::map<std::string, NodeCertificate> certificates() const;

  // Has each service asked at once how it is with this node. Does not wait.
  void sync_now();
  // Names the node's ports to each service; SmStatus::unknown_ports has those that it would refuse.
  // From any thread, and before begin(), too.
  void set_ports(const NodePorts& ports);
  // Sets `bind_fault` of each device that no pod has: why no partition could be bound at its port
  // now. Nothing where its PF is not up: then the link says enough.
  void set_bind_faults(std::vector<device_plugin::Device>& devices) const;

  // For one preparation: the GUID of a PF's VF, out of the pool of the service that has the PF's
  // fabric; with several, once its port is up. A service is asked once for each VF, and no more
  // after it has not answered.
  std::function<Result<ib::Guid>(const ib::PciAddress& pf, uint32_t vf)> guid_allocator();

  // As nodeapi::Node has them: unsupported, too, where the device's PF is on none of the fabrics.
  // An end is asked for on the PF's fabric and on every other one that may have bound it; where it
  // is not to be seen which one that is, on all. Released is what is so on each.
  Result<nodeapi::Binding> bind(const nodeapi::AttachmentName& name, nodeapi::Node::Wait wait,
                                Deadline deadline);
  Result<nodeapi::Binding> unbind(const nodeapi::AttachmentName& name, Deadline deadline);

 private:
  struct Fabric {
    config::FabricService service;
    fabricapi::Client client;
    std::unique_ptr<SmSession> session = {};  // since begin()
    const std::string& name() const { return service.sm_address.fabric; }
  };
  explicit Fabrics(FabricsDeps deps) : deps_(std::move(deps)) {}
  SmSessionDeps session_deps(const Fabric& fabric);
  void set_status(const std::string& fabric, SmStatus sm_status);
  // unsupported where the PF is on none of them, unavailable where that cannot be told now.
  Status check_subnet(const PfPort& port, const Fabric& fabric) const;
  Result<size_t> index_of(const PfPort& port) const;
  Result<Fabric*> fabric_of(const ib::PciAddress& device);
  Result<Fabric*> fabric_of(const nodeapi::AttachmentName& name);
  Result<PfIdentity> pf_on_fabric(const ib::PciAddress& device, const Fabric& fabric) const;
  std::set<ib::Guid> other_subnets(const Fabric& fabric) const;
  std::optional<device_plugin::BindFault> service_fault(const Fabric& fabric) const;
  std::vector<std::optional<device_plugin::BindFault>> service_faults() const;
  // `services`: service_faults().
  std::optional<device_plugin::BindFault> bind_fault(
      const device_plugin::Device& device, const Result<PfPort>& pf,
      const std::vector<std::optional<device_plugin::BindFault>>& services) const;
  std::vector<SmSession*> sessions_to_unbind(const nodeapi::AttachmentName& name);

  const FabricsDeps deps_;
  mutable std::mutex mutex_;
  std::map<std::string, SmStatus> sm_statuses_;  // this and below: guarded by mutex_
  std::map<std::string, SmStatusTimes> sm_status_times_;
  std::map<std::string, Deadline> grace_deadlines_;  // of those not reached: when that is too long
  NodePorts ports_;
  std::vector<Fabric> fabrics_;  // those of open()
};

}  // namespace ibpod::agent::sm_client
