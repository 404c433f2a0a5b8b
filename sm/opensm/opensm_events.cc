#include "sm/opensm/opensm_events.h"

#include "lib/base/clock.h"

#include <algorithm>
#include <array>

#include <poll.h>

namespace ibpod::sm::opensm {
namespace {

int timeout_of(std::optional<OpensmEvents::Time> time) {
  if (!time) return -1;
  const auto left = std::chrono::ceil<Duration>(*time - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 60000));
}

}  // namespace

Result<OpensmEvents> OpensmEvents::watch(const std::vector<Path>& files) {
  Wake wake = TRY(Wake::open());
  FolderWatch watch = TRY(FolderWatch::of_files(files));
  return OpensmEvents(std::move(wake), std::move(watch));
}

void OpensmEvents::wait(int process, std::optional<Time> until) const {
  std::array<pollfd, 3> waited{
      {{wake_.fd(), POLLIN, 0}, {files_.fd(), POLLIN, 0}, {process, POLLIN, 0}}};
  (void)::poll(waited.data(), waited.size(), timeout_of(until));  // callers check everything
  wake_.drain();
  files_.drain();
}

}  // namespace ibpod::sm::opensm
