#include "agent/gc/evidence.h"

#include <algorithm>
#include <cstdlib>

namespace ibpod::agent {
namespace {

using netns::Sight;

bool names(const PodDevices& pod, const node::Record& record) {
  const bool named = !record.pod.name.empty();
  const bool same = pod.name_space == record.pod.name_space && pod.name == record.pod.name;
  if (record.child) return named && same;
  const bool has =
      std::find(pod.devices.begin(), pod.devices.end(), record.device.text()) != pod.devices.end();
  return has && (same || !named);
}

Judgement unknown(const Evidence& evidence, std::string reason) {
  if (!evidence.trouble.empty()) reason += ": " + evidence.trouble;
  return {Verdict::unknown, std::move(reason)};
}

Judgement judge_gone(const Evidence& evidence) {
  std::string reason = "its network namespace is gone";
  if (evidence.kubelet == Witness::silent)
    return unknown(evidence, reason + ", but the kubelet does not say which pods it has");
  if (evidence.runtime == Witness::silent)
    return unknown(evidence, reason + ", but the runtime does not say which sandboxes it has");
  const bool by_kubelet = evidence.kubelet == Witness::lacks_it;
  const bool by_runtime = evidence.runtime == Witness::lacks_it;
  if (by_kubelet) reason += ", the kubelet does not say that its pod has it";
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

Judgement judge(const Evidence& evidence) {
  if (!evidence.this_boot) return {Verdict::dead, "it is of another boot"};
  if (evidence.netns == Sight::same) return {Verdict::live, "its network namespace is there"};
  if (evidence.kubelet == Witness::has_it)
    return {Verdict::live, "the kubelet says that its pod has it"};
  if (evidence.runtime == Witness::has_it) return {Verdict::live, "the runtime has its sandbox"};
  if (evidence.netns == Sight::gone) return judge_gone(evidence);
  return unknown(evidence, "its network namespace cannot be seen, which does not mean it is gone");
}

Witness kubelet_says(const node::Record& record, const std::vector<PodDevices>& pods,
                     bool succeeded) {
  if (pods.empty()) return Witness::silent;
  const bool named = std::any_of(pods.begin(), pods.end(),
                                 [&](const PodDevices& pod) { return names(pod, record); });
  return named && !succeeded ? Witness::has_it : Witness::lacks_it;
}

}  // namespace ibpod::agent
