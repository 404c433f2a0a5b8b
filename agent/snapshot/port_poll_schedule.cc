#include "agent/snapshot/port_poll_schedule.h"

#include <algorithm>

namespace ibpod::agent {
namespace {

using device_plugin::Ailment;

bool may_come_up(const device_plugin::Verdict& verdict) {
  return verdict.ailment == Ailment::pf_down || verdict.ailment == Ailment::port_not_active ||
         verdict.ailment == Ailment::no_guid || verdict.ailment == Ailment::wrong_subnet;
}

std::set<std::string> waiting_in(const View& view) {
  std::set<std::string> waiting;
  for (const auto& [id, verdict] : view.verdicts)
    if (may_come_up(verdict)) waiting.insert(id);
  // Of several fabrics a PF's is known when its port is up: its VFs have neither GUIDs nor drivers.
  if (!view.troubles.empty()) waiting.insert("preparation");
  return waiting;
}

}  // namespace

void PortPatience::seen(const View& view, bool ports) {
  std::set<std::string> now = waiting_in(view);
  const bool more = !std::includes(waiting_.begin(), waiting_.end(), now.begin(), now.end());
  waiting_ = std::move(now);
  if (more) pauses_.reset();
  if (waiting_.empty())
    due_ = Deadline::at(Deadline::Clock::time_point::max());
  else if (more || (ports && due_.passed()))
    due_ = Deadline::in(pauses_.next());
}

}  // namespace ibpod::agent
