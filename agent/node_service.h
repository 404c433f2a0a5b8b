// NodeService: what ibpodctl and the plugins are told of this node.
#pragma once

#include "agent/gc/gc_loop.h"
#include "agent/health/node_findings.h"
#include "agent/sm_client/fabrics.h"
#include "agent/snapshot/snapshot.h"
#include "lib/kube/pod_resources.h"
#include "lib/node/records.h"
#include "lib/nodeapi/node.h"
#include "lib/sysfs/sysfs.h"

#include <functional>

namespace ibpod::agent {

// The parts that the answers are made from. All of them outlive the service.
struct NodeServiceDeps {
  const Latest<snapshot::Snapshot>& snapshot;
  const Latest<health::RefreshTimes>& times;
  const sysfs::Sysfs& sysfs;
  const node::Records& records;
  const gc::GcLoop& gc_loop;
  std::optional<kube::PodResources> kubelet;  // nothing: this node has none
  std::function<bool()> is_registered;        // whether the kubelet knows every pool
  sm_client::Fabrics* fabrics = nullptr;      // null: none is configured
  // Has the agent look at the node, and waits for the end of that look, within reason.
  std::function<void(Deadline)> refresh_now;
};

class NodeService : public nodeapi::Node {
 public:
  explicit NodeService(NodeServiceDeps sources) : deps_(std::move(sources)) {}

  Result<v1::ListDevicesResponse> devices(Deadline deadline) override;
  Result<v1::ListAttachmentsResponse> attachments(Deadline deadline) override;
  Result<v1::ExplainResponse> explain(const std::string& device, Deadline deadline) override;
  Result<v1::HealthResponse> health(Deadline deadline) override;
  Result<v1::HealthResponse> fresh_health(Deadline deadline) override;
  Result<std::string> device_of(const nodeapi::DeviceQuestion& question,
                                Deadline deadline) override;
  Result<nodeapi::Binding> bind(const nodeapi::AttachmentName& name, Wait wait,
                                Deadline deadline) override;
  Result<nodeapi::Binding> unbind(const nodeapi::AttachmentName& name, Deadline deadline) override;

 private:
  Result<sm_client::Fabrics*> fabrics() const;
  NodeServiceDeps deps_;
};

}  // namespace ibpod::agent
