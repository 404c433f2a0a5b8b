// Evidence: whether the pod of one record can still be there. Nothing here looks at anything: what
// was seen comes in, a verdict goes out.
#pragma once

#include "lib/netns/netns_status.h"
#include "lib/node/record.h"

#include <string>
#include <vector>

namespace ibpod::agent::gc {

enum class Verdict { live, dead, unknown };
std::string_view name(Verdict verdict);

// The answer about one pod from a source that knows the node's pods: the kubelet or the runtime.
enum class LivenessSource {
  none,    // this node has no such source
  silent,  // no answer, or one that says nothing
  has_pod,
  lacks_pod,
};

struct Evidence {
  bool this_boot = true;
  netns::NetnsStatus netns = netns::NetnsStatus::unclear;
  LivenessSource kubelet = LivenessSource::silent;  // its pod-resources
  LivenessSource runtime = LivenessSource::none;    // its sandboxes
  std::string source_error = {};                    // why a source did not answer; for the reason
};

struct Evaluation {
  Verdict verdict = Verdict::unknown;
  std::string reason;
  // Dead by the word of a witness, who may just be starting: to be judged so twice.
  bool needs_confirmation = false;
};

// Live: the namespace is there, or a witness has the pod. Dead: of another boot; or the namespace
// is gone for certain, and every witness that the node has lacks the pod. Unknown: all else.
Evaluation evaluate(const Evidence& evidence);

// A pod as the kubelet's pod-resources names it (k8s.io/kubelet, podresources/v1 List).
struct PodDevices {
  std::string name_space, name;
  std::vector<std::string> devices;  // ids, of whatever resource; a VF's is its PCI address
};

// The kubelet's evidence about the record's pod. An empty answer says nothing: after its restart,
// and for as long as the API server is away, the kubelet answers so with pods running. A VF is in
// use if the pod that the record names has it (any pod, for a record that names none). A child has
// no device of its own: there the pod's name decides. `succeeded`: a newer sandbox of a pod of this
// name is known to live; the kubelet knows pods by their names alone, and then means that one.
LivenessSource kubelet_liveness(const node::Record& record, const std::vector<PodDevices>& pods,
                                bool succeeded);

}  // namespace ibpod::agent::gc
