#include "agent/sm_client/pkey_tables.h"

#include "agent/sm_client/bind_request.h"
#include "agent/sm_client/pf_port.h"
#include "lib/sysfs/infiniband.h"

#include <algorithm>
#include <set>

namespace ibpod::agent {
namespace {

using Seen = fabricapi::ObserveRequest::Seen;

const Path kDevices = "class/infiniband";

enum class Where { here, anywhere };

class Reading {
 public:
  Reading(const std::vector<ib::Guid>& ports, const std::set<ib::Guid>& other_subnets)
      : left_(ports.begin(), ports.end()), other_subnets_(other_subnets) {}

  bool complete() const { return left_.empty(); }
  std::vector<Seen> take() { return std::move(seen_); }

  void look(const sysfs::Sysfs& sysfs, Where where) {
    const auto devices = sysfs.list(kDevices);
    for (size_t n = 0; devices && n < devices->size() && !complete(); ++n)
      look(sysfs, (*devices)[n], where);
  }

 private:
  // The GUID first: a table has a file for each of its places.
  void look(const sysfs::Sysfs& sysfs, const std::string& device, Where where) {
    const auto guid = sysfs::port_guid(sysfs, device, kFirstPort);
    if (!guid || !left_.contains(*guid)) return;
    if (where == Where::here && is_elsewhere(sysfs, device)) return;
    const auto table = sysfs::pkeys(sysfs, device, kFirstPort);
    if (!table) return;
    seen_.push_back({*guid, *table});
    left_.erase(*guid);
  }

  // On another fabric the same GUID may be another port's.
  bool is_elsewhere(const sysfs::Sysfs& sysfs, const std::string& device) const {
    const auto prefix = sysfs::subnet_prefix(sysfs, device, kFirstPort);
    if (!prefix || !other_subnets_.contains(*prefix)) return false;
    const auto port = sysfs::port_without_pkeys(sysfs, device, kFirstPort);
    return port && port->state == ib::PortState::active;
  }

  std::set<ib::Guid> left_;
  const std::set<ib::Guid>& other_subnets_;
  std::vector<Seen> seen_;
};

bool has_one_of(const node::Record& record, const std::vector<ib::Guid>& ports) {
  if (record.child || !record.wanted.isolation) return false;
  return std::find(ports.begin(), ports.end(), node::port_of(record)) != ports.end();
}

}  // namespace

std::vector<Seen> read_tables(const std::vector<ib::Guid>& ports,
                              const std::set<ib::Guid>& other_subnets, const sysfs::Sysfs& host,
                              const std::vector<node::Record>& records,
                              const node::PodSysfs& pod_sysfs) {
  Reading reading(ports, other_subnets);
  // A binding of the fabric that a port was on before its cable was moved ends by this, too.
  for (const Where where : {Where::here, Where::anywhere}) {
    reading.look(host, where);
    for (const node::Record& record : records) {
      if (reading.complete() || !has_one_of(record, ports)) continue;
      const auto sysfs = pod_sysfs(record.netns);
      if (sysfs) reading.look(*sysfs, where);
    }
    if (other_subnets.empty()) break;
  }
  return reading.take();
}

}  // namespace ibpod::agent
