// NodeAnswers: what ibpodctl and the plugins are told of this node.
#pragma once

#include "agent/sm_client/fabrics.h"
#include "agent/health/node_findings.h"
#include "agent/gc/gc_loop.h"
#include "agent/snapshot/snapshot.h"
#include "lib/kube/pod_resources.h"
#include "lib/node/records.h"
#include "lib/nodeapi/node.h"
#include "lib/sysfs/sysfs.h"

#include <functional>

namespace ibpod::agent {

// What the answers are made of. All of it outlives them.
struct AnswerSources {
  const Latest<View>& view;
  const Latest<LookTimes>& times;
  const sysfs::Sysfs& sysfs;
  const node::Records& records;
  const Sweeping& sweeping;
  std::optional<kube::PodResources> kubelet;  // nothing: this node has none
  std::function<bool()> registered;           // whether the kubelet knows every pool
  Fabrics* fabrics = nullptr;                 // null: nobody has partitions for it
  // Has the agent look at the node, and waits for the end of that look, within reason.
  std::function<void(Deadline)> look_afresh;
};

class NodeAnswers : public nodeapi::Node {
 public:
  explicit NodeAnswers(AnswerSources sources) : sources_(std::move(sources)) {}

  Result<std::vector<nodeapi::Device>> devices(Deadline deadline) override;
  Result<std::vector<nodeapi::Attachment>> attachments(Deadline deadline) override;
  Result<nodeapi::Explanation> explain(const std::string& device, Deadline deadline) override;
  Result<nodeapi::Health> health(Deadline deadline) override;
  Result<nodeapi::Health> health_by_look(Deadline deadline) override;
  Result<std::string> device_of(const nodeapi::DeviceQuestion& question,
                                Deadline deadline) override;
  Result<nodeapi::Binding> bind(const nodeapi::AttachmentName& name, Wait wait,
                                Deadline deadline) override;
  Result<nodeapi::Binding> unbind(const nodeapi::AttachmentName& name, Deadline deadline) override;

 private:
  Result<Fabrics*> fabrics() const;
  AnswerSources sources_;
};

}  // namespace ibpod::agent
