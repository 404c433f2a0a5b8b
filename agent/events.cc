#include "agent/events.h"

#include <array>
#include <memory>

#include <poll.h>

namespace ibpod::agent {

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
    pending_.stop |= happened.stop;
    if (!happened.failed.empty()) pending_.failed = happened.failed;
  }
  wake_.ring();
}

Happened Events::wait(int configuration) {
  std::array<pollfd, 2> waiting{{{wake_.fd(), POLLIN, 0}, {configuration, POLLIN, 0}}};
  // EINTR wakes too: whoever looks again does no harm.
  ::poll(waiting.data(), waiting.size(), -1);
  wake_.drain();
  const std::scoped_lock lock(*mutex_);
  Happened happened = std::move(pending_);
  happened.configuration = waiting[1].revents != 0;
  pending_ = {.stop = happened.stop, .failed = happened.failed};
  return happened;
}

}  // namespace ibpod::agent
