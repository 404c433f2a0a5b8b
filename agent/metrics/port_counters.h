// The counters of InfiniBand ports, with the pods that have the devices. Read at each scrape of the
// metrics: the adapter's firmware is asked for each counter.
#pragma once

#include "agent/metrics/metrics.h"
#include "lib/node/listing.h"
#include "lib/node/record.h"
#include "lib/sysfs/sysfs.h"

#include <string>
#include <vector>

namespace ibpod::agent::metrics {

// However many devices and files there are, one scrape reads no more than these.
constexpr size_t kMostDevices = 2048;
constexpr size_t kMostCountersOfPort = 256;

struct PortCounters {
  std::vector<PortCounter> counters;
  size_t unread = 0;  // devices that could not be read
};

// ports/N/counters and ports/N/hw_counters of every RDMA device of the host, and of the isolated
// devices of these attachments. Those of IPoIB children are their master's.
PortCounters read_port_counters(const sysfs::Sysfs& host, const std::vector<node::Record>& records,
                                const node::PodSysfs& pod_sysfs);

}  // namespace ibpod::agent::metrics
