#include "lib/base/netns_thread.h"

#include <thread>

#include <sched.h>

namespace ibpod {

Status run_in_netns(const Fd& netns, std::string_view what, const std::function<Status()>& work) {
  Status result = ok();
  std::thread([&] {
    const auto joined = sys("setns", [&] { return ::setns(netns.get(), CLONE_NEWNET); });
    result = joined ? work() : Status(joined.error());
  }).join();
  return std::move(result).during(what);
}

}  // namespace ibpod
