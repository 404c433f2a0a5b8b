#include "sm/probe/running_probes.h"

#include <utility>

namespace ibpod::sm::probe {

std::optional<RunningProbe> RunningProbes::start(RunningProbe probe) {
  const ProbeId id{++last_};
  probes_.emplace(id, std::move(probe));
  return step(id, {});
}

std::optional<RunningProbe> RunningProbes::step(ProbeId id, const PortProbe::Answers& answers) {
  const auto found = probes_.find(id);
  auto requests = found->second.probe.next(answers);
  if (requests.empty()) return std::move(probes_.extract(found).mapped());
  found->second.packets += requests.size();
  mad::query_all_async(scheduler_, std::move(requests), [inbox = inbox_, id](auto outcomes) {
    inbox->add([&](Tasks& tasks) { tasks.answered.push_back({id, std::move(outcomes)}); });
  });
  return std::nullopt;
}

}  // namespace ibpod::sm::probe
