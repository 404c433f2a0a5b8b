#include "lib/nl/ipv6.h"

#include "lib/base/files.h"
#include "lib/base/run_on_thread.h"

#include <fcntl.h>

namespace ibpod::nl {
namespace {

// /proc/sys/net shows the settings of the namespace that the thread is in. They are read first:
// where /proc/sys is read-only, what is right already is no failure.
Status enable_on(const std::string& link) {
  const Path file = Path("/proc/sys/net/ipv6/conf") / link / "disable_ipv6";
  const Result<std::string> disabled = read_file(file);
  if (!disabled && disabled.error().code() == Code::not_found) return ok();
  if (!disabled) return disabled.error();
  if (disabled->starts_with('0')) return ok();
  const Fd fd(TRY(
      sys("open " + file.string(), [&] { return ::open(file.c_str(), O_WRONLY | O_CLOEXEC); })));
  TRY(sys("write " + file.string(), [&] { return ::write(fd.get(), "0", 1); }));
  return ok();
}

}  // namespace

Status enable_ipv6(const Fd& netns, const std::string& link) {
  return run_in_netns(netns, "enable IPv6 on " + link, [&]() -> Status {
    TRY(enable_on("lo"));
    return enable_on(link);
  });
}

}  // namespace ibpod::nl
