#include "lib/base/netns_thread.h"

#include "lib/base/thread.h"

#include <sched.h>

namespace ibpod {

Status run_in_netns(const Fd& netns, std::string_view what, const std::function<Status()>& work) {
  return run_on_thread([&]() -> Status {
           TRY(sys("setns", [&] { return ::setns(netns.get(), CLONE_NEWNET); }));
           return work();
         })
      .during(what);
}

}  // namespace ibpod
