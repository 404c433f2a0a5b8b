#include "lib/base/netns_thread.h"

#include <system_error>
#include <thread>

#include <sched.h>

namespace ibpod {
namespace {

// A thread that cannot be had is an error like any other, and not the end of whoever has begun
// something that has to be undone.
Status run_on_thread(const std::function<void()>& work) {
  try {
    std::thread(work).join();
  } catch (const std::system_error& refused) {
    return Error::from_errno(refused.code().value(), "start a thread");
  }
  return ok();
}

}  // namespace

Status run_in_netns(const Fd& netns, std::string_view what, const std::function<Status()>& work) {
  Status result = ok();
  Status ran = run_on_thread([&] {
    const auto joined = sys("setns", [&] { return ::setns(netns.get(), CLONE_NEWNET); });
    result = joined ? work() : Status(joined.error());
  });
  return (ran ? std::move(result) : std::move(ran)).during(what);
}

}  // namespace ibpod
