// PoolResource: one pool, as the kubelet asks for it.
#pragma once

#include "agent/kubelet/device_files.h"
#include "agent/snapshot/snapshot.h"
#include "device-plugin/pool.h"
#include "lib/kube/resource.h"
#include "lib/sysfs/sysfs.h"

#include <chrono>
#include <functional>
#include <string>

namespace ibpod::agent::kubelet {

// The files and calls that a PoolResource uses beside the snapshot. Outlives it.
struct PoolResourceDeps {
  const sysfs::Sysfs& sysfs;
  DeviceFiles& files;
};

class PoolResource : public kube::Resource {
 public:
  // Told of every allocation, on a thread of gRPC's, before the kubelet hears of it.
  struct AllocationEvent {
    std::string resource;
    const kube::DeviceIds& ids;
    bool granted;
    std::chrono::duration<double> took;
  };
  using OnAllocate = std::function<void(const AllocationEvent&)>;

  PoolResource(std::string name, const Latest<snapshot::Snapshot>& snapshot,
               const PoolResourceDeps& places, OnAllocate allocated)
      : name_(std::move(name)),
        snapshot_(snapshot),
        deps_(places),
        on_allocate_(std::move(allocated)) {}

  std::string name() const override { return name_; }
  kube::Options options() const override { return {.pre_start = true, .prefers = true}; }
  std::vector<kube::Device> devices() override;
  // Writes the device-info files too: the kubelet asks once, and Multus reads them soon after.
  Result<kube::Allocation> allocate(const kube::DeviceIds& ids) override;
  Result<kube::DeviceIds> prefer(const kube::DeviceIds& available,
                                 const kube::DeviceIds& must_include, size_t size) override;
  // After ADD and before the container: an RDMA move has renumbered the character devices since
  // allocate(). With CDI, writes the device's file again. Without CDI, a container does not start
  // if it was allowed other nodes than it needs, or if it is unknown which.
  Status pre_start(const kube::DeviceIds& ids) override;

 private:
  Result<kube::Allocation> grant(const snapshot::Snapshot& snapshot, const kube::DeviceIds& ids);
  Status pre_start_device(const snapshot::Snapshot& snapshot, const std::string& id);

  const std::string name_;
  const Latest<snapshot::Snapshot>& snapshot_;
  const PoolResourceDeps& deps_;
  const OnAllocate on_allocate_;
};

}  // namespace ibpod::agent::kubelet
