#include "lib/netns/netns_status.h"

#include "lib/base/run_on_thread.h"

#include <iterator>
#include <string_view>

#include <sys/stat.h>

namespace ibpod::netns {
namespace {

Path folder_of(const Path& path) {
  constexpr std::string_view kProc = "/proc/";
  return path.native().starts_with(kProc) ? Path("/proc") : path.parent_path();
}

template <typename Stat>
Result<bool> there(const Path& path, Stat stat) {
  struct stat ignored;
  const auto found = sys("stat " + path.string(), [&] { return stat(path.c_str(), &ignored); });
  if (!found && found.error().code() != Code::not_found) return found.error();
  return found.ok();
}

// For a path that does not lead to a namespace. A dangling link counts as unclear, too.
Result<NetnsStatus> look_for_nothing(const Path& path) {
  const bool entry = TRY(there(path, ::lstat));
  if (entry) return NetnsStatus::unclear;
  const bool folder = TRY(there(folder_of(path), ::stat));
  return folder ? NetnsStatus::gone : NetnsStatus::unclear;
}

Result<NetnsStatus> look_here(const Path& path, const Identity& identity) {
  const Result<NetNs> netns = NetNs::open(path);
  if (!netns && netns.error().code() == Code::not_found) return look_for_nothing(path);
  const bool another_type =
      !netns && netns.error().code() == Code::invalid && netns.error().error_number() == 0;
  if (another_type) return NetnsStatus::gone;
  if (!netns) return netns.error();
  const Identity now = TRY(netns->identity());
  return now == identity ? NetnsStatus::same : NetnsStatus::gone;
}

}  // namespace

Result<NetnsStatus> netns_status(const Path& path, const Identity& identity,
                                 const Path& mount_namespace) {
  if (!path.is_absolute()) {
    return Error(Code::invalid,
                 "\"" + path.string() +
                     "\" is not the path of a network namespace: expected an absolute path");
  }
  NetnsStatus status = NetnsStatus::unclear;
  TRY(run_in_mount_namespace(mount_namespace, "look for network namespace " + path.string(),
                             [&]() -> Status {
                               status = TRY(look_here(path, identity));
                               return ok();
                             }));
  return status;
}

}  // namespace ibpod::netns
