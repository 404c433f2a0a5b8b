#include "agent/gc/evidence.h"

#include <algorithm>
#include <cstdlib>

namespace ibpod::agent::gc {
namespace {

using netns::NetnsStatus;

bool has_record(const PodDevices& pod, const node::Record& record) {
  const bool named = !record.pod.name.empty();
  const bool same = pod.name_space == record.pod.name_space && pod.name == record.pod.name;
  if (record.child) return named && same;
  const bool has =
      std::find(pod.devices.begin(), pod.devices.end(), record.device.text()) != pod.devices.end();
  return has && (same || !named);
}

Evaluation unknown(const Evidence& evidence, std::string reason) {
  if (!evidence.source_error.empty()) reason += ": " + evidence.source_error;
  return {Verdict::unknown, std::move(reason)};
}

Evaluation evaluate_gone(const Evidence& evidence) {
  std::string reason = "its network namespace is gone";
  if (evidence.kubelet == LivenessSource::silent)
    return unknown(evidence, reason + ", but the kubelet did not list its pods");
  if (evidence.runtime == LivenessSource::silent)
    return unknown(evidence, reason + ", but the runtime did not list its sandboxes");
  const bool by_kubelet = evidence.kubelet == LivenessSource::lacks_pod;
  const bool by_runtime = evidence.runtime == LivenessSource::lacks_pod;
  if (by_kubelet) reason += ", the kubelet does not list it for its pod";
  if (by_runtime) reason += ", the runtime has no such sandbox";
  return {Verdict::dead, reason, by_kubelet || by_runtime};
}

}  // namespace

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::live:
      return "live";
    case Verdict::dead:
      return "dead";
    case Verdict::unknown:
      return "unknown";
  }
  std::abort();
}

Evaluation evaluate(const Evidence& evidence) {
  if (!evidence.this_boot) return {Verdict::dead, "it is from an earlier boot"};
  if (evidence.netns == NetnsStatus::same) return {Verdict::live, "its network namespace is there"};
  if (evidence.kubelet == LivenessSource::has_pod)
    return {Verdict::live, "the kubelet lists it for its pod"};
  if (evidence.runtime == LivenessSource::has_pod)
    return {Verdict::live, "the runtime has its sandbox"};
  if (evidence.netns == NetnsStatus::gone) return evaluate_gone(evidence);
  return unknown(evidence, "its network namespace cannot be read, so it may still exist");
}

LivenessSource kubelet_liveness(const node::Record& record, const std::vector<PodDevices>& pods,
                                bool succeeded) {
  if (pods.empty()) return LivenessSource::silent;
  const bool named = std::any_of(pods.begin(), pods.end(),
                                 [&](const PodDevices& pod) { return has_record(pod, record); });
  return named && !succeeded ? LivenessSource::has_pod : LivenessSource::lacks_pod;
}

}  // namespace ibpod::agent::gc
