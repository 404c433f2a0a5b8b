#include "agent/event_queue.h"

#include <array>
#include <memory>

#include <poll.h>

namespace ibpod::agent {
namespace {

// Rounded up, so that the deadline has passed when the wait ends.
int milliseconds_of(Deadline deadline) {
  constexpr Duration kMost = std::chrono::hours(24);
  return static_cast<int>(std::min(deadline.left(), kMost).count()) + 1;
}

}  // namespace

Result<EventQueue> EventQueue::open() {
  Wake wake = TRY(Wake::open());
  return EventQueue(std::move(wake));
}

void EventQueue::post(const PendingEvents& pending) {
  {
    const std::scoped_lock lock(monitor_->mutex);
    pending_.devices |= pending.devices;
    pending_.changes.add(pending.changes);
    pending_.poll_due |= pending.poll_due;
    pending_.verdicts_ready |= pending.verdicts_ready;
    pending_.gc_done |= pending.gc_done;
    pending_.fabrics |= pending.fabrics;
    pending_.stop |= pending.stop;
    if (!pending.error.empty()) pending_.error = pending.error;
  }
  wake_.ring();
  monitor_->stopped.notify_all();
}

PendingEvents EventQueue::wait(int configuration, Deadline timeout) {
  std::array<pollfd, 2> waiting{{{wake_.fd(), POLLIN, 0}, {configuration, POLLIN, 0}}};
  // EINTR ends the wait too: an early check does no harm.
  ::poll(waiting.data(), waiting.size(), milliseconds_of(timeout));
  wake_.drain();
  const std::scoped_lock lock(monitor_->mutex);
  PendingEvents pending = std::move(pending_);
  pending.configuration = waiting[1].revents != 0;
  pending.changes.ports |= timeout.passed();
  pending_ = {.stop = pending.stop, .error = pending.error};
  return pending;
}

// It does not touch the ring: what is posted meanwhile wakes the next wait(), and nothing else
// does.
void EventQueue::sleep_until(Deadline end) {
  std::unique_lock lock(monitor_->mutex);
  monitor_->stopped.wait_until(lock, end.time(), [this] { return pending_.stop; });
}

}  // namespace ibpod::agent
