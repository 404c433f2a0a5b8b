// Interfaces of the garbage collector to network namespaces, the kubelet, the container runtime and
// the plugins, with the implementations for this machine.
#pragma once

#include "agent/gc/evidence.h"
#include "lib/base/clock.h"
#include "lib/node/records.h"

#include <string>
#include <vector>

namespace ibpod::agent::gc {

class Namespaces {
 public:
  virtual ~Namespaces() = default;
  // The status of the recorded path in the host's mount namespace. An error says nothing.
  virtual Result<netns::NetnsStatus> status_of(const node::Namespace& recorded) = 0;
};

// The namespaces as the processes of a mount namespace see them (lib/base/run_on_thread.h).
class HostNamespaces : public Namespaces {
 public:
  explicit HostNamespaces(Path mount_namespace) : mount_namespace_(std::move(mount_namespace)) {}
  Result<netns::NetnsStatus> status_of(const node::Namespace& recorded) override {
    return netns::netns_status(recorded.path, recorded.identity, mount_namespace_);
  }

 private:
  Path mount_namespace_;
};

class Pods {
 public:
  virtual ~Pods() = default;
  // All pods that the kubelet has, with or without devices. Empty: it answered, and said nothing.
  virtual Result<std::vector<PodDevices>> list_pods() = 0;
};

class Sandboxes {
 public:
  virtual ~Sandboxes() = default;
  // The ids of the sandboxes that the container runtime has ready (CRI, RuntimeService
  // ListPodSandbox with state SANDBOX_READY).
  virtual Result<std::vector<std::string>> list_sandboxes() = 0;
};

class Strays {
 public:
  virtual ~Strays() = default;
  // The names of the IPoIB children on the host that are ours and have no record
  // (node/child.h).
  virtual Result<std::vector<std::string>> list_strays() = 0;
};

// Those of this node, by a kernel of their own: a sweep has a thread of its own.
class HostStrays : public Strays {
 public:
  HostStrays(const node::Records& records, Path sysfs)
      : records_(records), sysfs_(std::move(sysfs)) {}
  Result<std::vector<std::string>> list_strays() override;

 private:
  const node::Records& records_;
  Path sysfs_;
};

class Plugins {
 public:
  virtual ~Plugins() = default;
  // Ends the attachment of this very attempt. A success says that the plugin found nothing wrong,
  // not that the record has gone: that of a VF that was taken out of the machine stays.
  virtual Status del(const node::Record& record) = 0;
  // Ends what stands under a name that cannot be read any more, and nothing of what stands under
  // `others`.
  virtual Status collect(const node::RecordName& damaged,
                         const std::vector<node::RecordName>& others) = 0;
  // Removes the IPoIB children without a record, and touches nothing of what has one.
  virtual Status remove_strays(const std::vector<node::RecordName>& recorded) = 0;
};

// Dependencies of a GarbageCollector. The caller owns them; they outlive it.
struct GcDeps {
  const node::Records& records;
  std::string boot_id;  // of this boot
  Namespaces& namespaces;
  Pods* pods;            // null: no kubelet on this node, and namespaces alone decide
  Sandboxes* sandboxes;  // null: not asked
  Plugins& plugins;
  Strays* strays = nullptr;  // null: not looked for
};

}  // namespace ibpod::agent::gc
