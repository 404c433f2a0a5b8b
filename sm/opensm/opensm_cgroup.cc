#include "sm/opensm/opensm_cgroup.h"

#include "lib/systemd/scope.h"

#include <thread>

#include <unistd.h>

namespace ibpod::sm::opensm {
namespace {

constexpr Duration kMoveTimeout{5000};

// systemd answers before it moves the process.
Status wait_until_moved(pid_t opensm, const std::string& ours, Deadline deadline) {
  while (true) {
    const std::string theirs = TRY(systemd::cgroup_of(opensm));
    if (!systemd::is_within(theirs, ours)) return ok();
    if (deadline.passed())
      return Error(Code::unavailable, "systemd did not move OpenSM within 5 s");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Status move(pid_t opensm, const std::string& ours, const std::string& theirs) {
  const auto name = scope_name(ours, theirs, opensm);
  if (!name) return Error(Code::unsupported, "ibpod-sm is not a systemd service");
  const Deadline deadline = Deadline::in(kMoveTimeout);
  TRY(systemd::start_scope({*name, systemd::service_of(ours)->slice, "OpenSM of ibpod-sm", opensm},
                           deadline));
  return wait_until_moved(opensm, ours, deadline);
}

}  // namespace

std::optional<std::string> scope_name(const std::string& ours, const std::string& theirs,
                                      pid_t opensm) {
  const auto unit = systemd::service_of(ours);
  if (!unit || !systemd::is_within(theirs, ours)) return std::nullopt;
  const std::string stem = unit->name.substr(0, unit->name.rfind('.'));
  return stem + "-opensm-" + std::to_string(opensm) + ".scope";
}

Status separate_cgroup(pid_t opensm) {
  const auto ours = systemd::cgroup_of(::getpid());
  const auto theirs = systemd::cgroup_of(opensm);
  if (!ours || !theirs || !systemd::is_within(*theirs, *ours)) return ok();
  const Status moved = move(opensm, *ours, *theirs);
  const auto limit = systemd::memory_limit(*ours);
  if (moved || !limit) return ok();
  return Error(Code::unavailable,
               "OpenSM shares the cgroup of ibpod-sm and its memory limit (" +
                   std::to_string(*limit) +
                   " bytes): the kernel may kill OpenSM when ibpod-sm reaches the limit: " +
                   moved.error().text());
}

}  // namespace ibpod::sm::opensm
