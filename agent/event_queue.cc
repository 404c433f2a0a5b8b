#include "agent/event_queue.h"

#include <array>
#include <memory>

#include <poll.h>

namespace ibpod::agent {
namespace {

// Not a moment before: whoever wakes finds the deadline passed.
int milliseconds_of(Deadline deadline) {
  constexpr Duration kMost = std::chrono::hours(24);
  return static_cast<int>(std::min(deadline.left(), kMost).count()) + 1;
}

}  // namespace

Result<Events> Events::open() {
  Wake wake = TRY(Wake::open());
  return Events(std::move(wake));
}

void Events::tell(const Happened& happened) {
  {
    const std::scoped_lock lock(*mutex_);
    pending_.devices |= happened.devices;
    pending_.changed.add(happened.changed);
    pending_.due |= happened.due;
    pending_.judged |= happened.judged;
    pending_.swept |= happened.swept;
    pending_.fabrics |= happened.fabrics;
    pending_.stop |= happened.stop;
    if (!happened.failed.empty()) pending_.failed = happened.failed;
  }
  wake_.ring();
}

Happened Events::wait(int configuration, Deadline patience) {
  std::array<pollfd, 2> waiting{{{wake_.fd(), POLLIN, 0}, {configuration, POLLIN, 0}}};
  // EINTR wakes too: whoever looks again does no harm.
  ::poll(waiting.data(), waiting.size(), milliseconds_of(patience));
  wake_.drain();
  const std::scoped_lock lock(*mutex_);
  Happened happened = std::move(pending_);
  happened.configuration = waiting[1].revents != 0;
  happened.changed.ports |= patience.passed();
  pending_ = {.stop = happened.stop, .failed = happened.failed};
  return happened;
}

bool Events::stops() const {
  const std::scoped_lock lock(*mutex_);
  return pending_.stop;
}

void Events::rest(Deadline end) {
  while (!end.passed() && !stops()) {
    pollfd waiting{wake_.fd(), POLLIN, 0};
    ::poll(&waiting, 1, milliseconds_of(end));
    wake_.drain();
  }
  wake_.ring();  // for what was told: one ring too many does no harm
}

}  // namespace ibpod::agent
