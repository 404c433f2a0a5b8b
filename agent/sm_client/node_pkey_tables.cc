#include "agent/sm_client/node_pkey_tables.h"

#include "agent/sm_client/pf_port.h"
#include "lib/sysfs/infiniband.h"

#include <algorithm>
#include <set>

namespace ibpod::agent::sm_client {
namespace {

using PortTable = fabricapi::ObserveRequest::PortTable;

const Path kDevices = "class/infiniband";

enum class Scope { this_fabric, any_fabric };

class Collector {
 public:
  Collector(const std::vector<ib::Guid>& ports, const std::set<ib::Guid>& other_subnets)
      : missing_(ports.begin(), ports.end()), other_subnets_(other_subnets) {}

  bool is_complete() const { return missing_.empty(); }
  std::vector<PortTable> take() { return std::move(tables_); }

  void read(const sysfs::Sysfs& sysfs, Scope where) {
    const auto devices = sysfs.list(kDevices);
    for (size_t n = 0; devices && n < devices->size() && !is_complete(); ++n)
      read(sysfs, (*devices)[n], where);
  }

 private:
  // Reads the GUID first: a table has a file for each of its entries.
  void read(const sysfs::Sysfs& sysfs, const std::string& device, Scope where) {
    const auto guid = sysfs::port_guid(sysfs, device, kFirstPort);
    if (!guid || !missing_.contains(*guid)) return;
    if (where == Scope::this_fabric && is_on_other_fabric(sysfs, device)) return;
    const auto table = sysfs::pkeys(sysfs, device, kFirstPort);
    if (!table) return;
    tables_.push_back({*guid, *table});
    missing_.erase(*guid);
  }

  // On another fabric the same GUID may be another port's.
  bool is_on_other_fabric(const sysfs::Sysfs& sysfs, const std::string& device) const {
    const auto prefix = sysfs::subnet_prefix(sysfs, device, kFirstPort);
    if (!prefix || !other_subnets_.contains(*prefix)) return false;
    const auto port = sysfs::port_without_pkeys(sysfs, device, kFirstPort);
    return port && port->state == ib::PortState::active;
  }

  std::set<ib::Guid> missing_;
  const std::set<ib::Guid>& other_subnets_;
  std::vector<PortTable> tables_;
};

bool has_one_of(const node::Record& record, const std::vector<ib::Guid>& ports) {
  if (record.child || !record.spec.isolation) return false;
  return std::find(ports.begin(), ports.end(), node::port_of(record)) != ports.end();
}

}  // namespace

std::vector<PortTable> read_node_pkey_tables(const std::vector<ib::Guid>& ports,
                                             const std::set<ib::Guid>& other_subnets,
                                             const sysfs::Sysfs& host,
                                             const std::vector<node::Record>& records,
                                             const node::PodSysfs& pod_sysfs) {
  Collector collector(ports, other_subnets);
  // A binding of the fabric that a port was on before its cable was moved ends by this, too.
  for (const Scope where : {Scope::this_fabric, Scope::any_fabric}) {
    collector.read(host, where);
    for (const node::Record& record : records) {
      if (collector.is_complete() || !has_one_of(record, ports)) continue;
      const auto sysfs = pod_sysfs(record.netns);
      if (sysfs) collector.read(*sysfs, where);
    }
    if (other_subnets.empty()) break;
  }
  return collector.take();
}

}  // namespace ibpod::agent::sm_client
