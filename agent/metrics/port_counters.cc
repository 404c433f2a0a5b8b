#include "agent/metrics/port_counters.h"

#include "lib/sysfs/pci.h"

#include <charconv>
#include <map>
#include <optional>

namespace ibpod::agent::metrics {
namespace {

const Path kDevices = "class/infiniband";

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

// The device and its owner, as labels.
PortCounter labels_of(const std::string& device, const node::Record* record) {
  PortCounter labels;
  labels.device = device;
  if (record == nullptr) return labels;
  labels.name_space = record->pod.name_space;
  labels.pod = record->pod.name;
  labels.container_id = record->container_id;
  return labels;
}

// The files of a folder that hold a counter. A VF's hardware may refuse some, and has settings
// among them (lifespan): they are left out.
void read_folder(const sysfs::Sysfs& sysfs, const Path& folder, PortCounter labels,
                 std::vector<PortCounter>& counters) {
  const auto files = sysfs.list(folder);
  if (!files) return;
  size_t left = kMostCountersOfPort;
  for (const std::string& file : *files) {
    if (file == "lifespan" || left == 0) continue;
    const auto content = sysfs.read(folder / file);
    const auto value = content ? number(*content) : std::nullopt;
    if (!value) continue;
    labels.counter = file;
    labels.value = static_cast<double>(*value);
    counters.push_back(labels);
    --left;
  }
}

// A device is known by its function: its name may have changed when it was bound or moved.
std::optional<ib::PciAddress> function_of(const sysfs::Sysfs& sysfs, const std::string& device) {
  const auto function = sysfs::function_of_rdma_device(sysfs, device);
  return function ? *function : std::nullopt;
}

class Collector {
 public:
  PortCounters take() { return std::move(result_); }

  void add_device(const sysfs::Sysfs& sysfs, const std::string& device,
                  const node::Record* record) {
    const Path folder = kDevices / device / "ports";
    const auto ports = sysfs.list(folder);
    if (!ports || ports->empty() || ++devices_ > kMostDevices) {
      ++result_.unread;
      return;
    }
    PortCounter labels = labels_of(device, record);
    for (const std::string& port : *ports) {
      labels.port = port;
      read_folder(sysfs, folder / port / "counters", labels, result_.counters);
      read_folder(sysfs, folder / port / "hw_counters", labels, result_.counters);
    }
  }

  void add_attachment(const node::Record& record, const node::PodSysfs& pod_sysfs) {
    const auto sysfs = pod_sysfs(record.netns);
    const auto names =
        sysfs ? sysfs->list(kDevices) : Result<std::vector<std::string>>(sysfs.error());
    size_t found = 0;
    for (size_t i = 0; names && i < names->size(); ++i) {
      if (function_of(*sysfs, (*names)[i]) != record.device) continue;
      add_device(*sysfs, (*names)[i], &record);
      ++found;
    }
    if (found == 0) ++result_.unread;
  }

 private:
  PortCounters result_;
  size_t devices_ = 0;
};

}  // namespace

PortCounters read_port_counters(const sysfs::Sysfs& host, const std::vector<node::Record>& records,
                                const node::PodSysfs& pod_sysfs) {
  Collector collector;
  std::map<ib::PciAddress, const node::Record*> shared;
  for (const node::Record& record : records) {
    if (record.child) continue;
    if (record.spec.isolation)
      collector.add_attachment(record, pod_sysfs);
    else
      shared[record.device] = &record;
  }
  const auto devices = host.list(kDevices);
  if (!devices) return collector.take();
  for (const std::string& device : *devices) {
    const auto function = function_of(host, device);
    const auto owner = function ? shared.find(*function) : shared.end();
    collector.add_device(host, device, owner == shared.end() ? nullptr : owner->second);
  }
  return collector.take();
}

}  // namespace ibpod::agent::metrics
