#include "sm/probe/poll_schedule.h"

#include <algorithm>

namespace ibpod::sm::probe {

void PollSchedule::set(const std::set<ib::Guid>& ports, Time now) {
  for (auto port = ports_.begin(); port != ports_.end();) {
    if (ports.contains(port->first)) {
      ++port;
    } else {
      due_.erase({port->second.due, port->first});
      port = ports_.erase(port);
    }
  }
  for (const ib::Guid guid : ports) {
    const auto [port, is_new] = ports_.try_emplace(guid, Port{BackOff(pace_.least, pace_.most)});
    if (is_new) schedule(guid, port->second, now);
  }
}

void PollSchedule::schedule(ib::Guid guid, Port& port, Time due) {
  due_.erase({port.due, guid});
  port.due = due;
  port.under_way = false;
  due_.emplace(due, guid);
}

std::vector<ib::Guid> PollSchedule::take_due(Time now) {
  std::vector<ib::Guid> found;
  while (!due_.empty() && due_.begin()->first <= now) {
    found.push_back(due_.begin()->second);
    due_.erase(due_.begin());
    Port& port = ports_.at(found.back());
    port.under_way = true;
    port.once_more = false;
  }
  return found;
}

void PollSchedule::note_read(const ProbeResult& reading, Time begun, Time now) {
  const auto found = ports_.find(reading.port);
  if (found == ports_.end() || !found->second.under_way) return;
  Port& port = found->second;
  if (port.last != reading) port.pauses.reset();
  port.last = reading;
  const auto rest = std::max<Time::duration>(port.pauses.next(), 2 * (now - begun));
  schedule(reading.port, port, port.once_more ? now : now + rest);
}

void PollSchedule::poll_now(ib::Guid guid, Time now) {
  const auto found = ports_.find(guid);
  if (found == ports_.end()) return;
  Port& port = found->second;
  port.last.reset();
  if (port.under_way) {
    port.once_more = true;
  } else {
    schedule(guid, port, std::min(now, port.due));
  }
}

void PollSchedule::poll_all_now(Time now) {
  for (const auto& [guid, port] : ports_) poll_now(guid, now);
}

std::optional<PollSchedule::Time> PollSchedule::next() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

}  // namespace ibpod::sm::probe
