#include "lib/base/run_on_thread.h"

#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sched.h>

namespace ibpod {

Status run_on_thread(const std::function<Status()>& work) {
  Status result = ok();
  try {
    std::thread([&] { result = work(); }).join();
  } catch (const std::system_error& refused) {
    return Error::from_errno(refused.code().value(), "start a thread");
  }
  return result;
}

Status run_in_netns(const Fd& netns, std::string_view what, const std::function<Status()>& work) {
  return run_on_thread([&]() -> Status {
           TRY(sys("setns", [&] { return ::setns(netns.get(), CLONE_NEWNET); }));
           return work();
         })
      .during(what);
}

namespace {

Status join(const Fd& mount_namespace) {
  // Threads share their root and working folder, and one that does cannot change namespaces.
  TRY(sys("unshare", [] { return ::unshare(CLONE_FS); }));
  TRY(sys("setns", [&] { return ::setns(mount_namespace.get(), CLONE_NEWNS); }));
  return ok();
}

}  // namespace

Result<Fd> open_mount_namespace(const Path& mount_namespace) {
  if (mount_namespace.empty()) return Fd();
  return Fd(TRY(sys("open " + mount_namespace.string(),
                    [&] { return ::open(mount_namespace.c_str(), O_RDONLY | O_CLOEXEC); })));
}

Status run_in_mount_namespace(const Path& mount_namespace, std::string_view what,
                              const std::function<Status()>& work) {
  if (mount_namespace.empty()) return work().during(what);
  const Fd fd = TRY(open_mount_namespace(mount_namespace).during(what));
  return run_on_thread([&]() -> Status {
           TRY(join(fd).during("join " + mount_namespace.string()));
           return work();
         })
      .during(what);
}

}  // namespace ibpod
