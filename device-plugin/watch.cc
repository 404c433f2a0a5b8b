#include "device-plugin/watch.h"

#include "lib/nl/notifications.h"

#include <vector>

#include <poll.h>
#include <sys/eventfd.h>

namespace ibpod::device_plugin {
namespace {

constexpr Duration kQuiet{5};
constexpr Duration kLongestBurst{25};

Result<bool> is_readable(std::vector<pollfd>& waiting, Deadline deadline) {
  // Rounded up: a wait that ends a little early would have to be repeated at full speed.
  const int left = static_cast<int>(deadline.left().count()) + 1;
  const int timeout = deadline.passed() ? 0 : left;
  const int ready =
      TRY(sys("poll", [&] { return ::poll(waiting.data(), waiting.size(), timeout); }));
  return ready > 0;
}

// A node may get its RDMA modules later: uevents tell of their devices all the same.
Result<std::optional<nl::Socket>> open_rdma() {
  Result<nl::Socket> socket = nl::Socket::open(nl::Family::rdma);
  if (!socket && socket.error().code() == Code::unsupported) return std::optional<nl::Socket>();
  if (!socket) return std::move(socket).error();
  TRY(socket->subscribe_to_rdma_devices());
  return std::optional(std::move(socket).value());
}

}  // namespace

Watch::Watch(nl::Uevents uevents, nl::Socket links, std::optional<nl::Socket> rdma,
             TreeWatch records, Fd cancelled, Duration interval)
    : uevents_(std::move(uevents)),
      links_(std::move(links)),
      rdma_(std::move(rdma)),
      records_(std::move(records)),
      cancelled_(std::move(cancelled)),
      interval_(interval),
      due_(Deadline::in(interval)) {}

Result<Watch> Watch::open(const node::Records& records, Duration interval) {
  nl::Uevents uevents = TRY(nl::Uevents::open());
  nl::Socket links = TRY(nl::Socket::open(nl::Family::route));
  TRY(links.subscribe_to_links());
  TRY(links.subscribe_to_addresses());
  std::optional<nl::Socket> rdma = TRY(open_rdma());
  TreeWatch tree = TRY(records.watch_all());
  Fd cancelled(TRY(sys("eventfd", [] { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); })));
  return Watch(std::move(uevents), std::move(links), std::move(rdma), std::move(tree),
               std::move(cancelled), interval);
}

bool Watch::is_cancelled() const {
  pollfd waiting{cancelled_.get(), POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 1;
}

void Watch::cancel() const {
  const uint64_t one = 1;
  // It can fail only where it was cancelled 2^64 times before.
  [[maybe_unused]] const ssize_t written = ::write(cancelled_.get(), &one, sizeof one);
}

// True if anything has come. It is not taken from the sockets.
Result<bool> Watch::poll(Deadline deadline) {
  std::vector<pollfd> waiting{{cancelled_.get(), POLLIN, 0},
                              {uevents_.fd(), POLLIN, 0},
                              {links_.fd(), POLLIN, 0},
                              {records_.fd(), POLLIN, 0}};
  if (rdma_) waiting.push_back({rdma_->fd(), POLLIN, 0});
  return is_readable(waiting, deadline);
}

Status Watch::drain() {
  std::set<std::string> paths;
  bool told = nl::take_device_paths(uevents_, paths);
  told = nl::take_link_names(links_, changes_.netdevs) && told;
  if (rdma_) told = nl::take_rdma_names(*rdma_, changes_.rdma_devices) && told;
  if (!told) changes_.everything = true;
  for (const std::string& path : paths) add_device_path(path, changes_);
  return records_.drain();
}

Status Watch::drain_burst() {
  const Deadline longest = Deadline::in(kLongestBurst);
  bool more = true;
  while (more && !longest.passed() && !is_cancelled()) {
    TRY(drain());
    more = TRY(poll(longest.at_most(kQuiet)));
  }
  return ok();
}

Result<WakeReason> Watch::wait(Deadline deadline) {
  const bool is_first = due_.left() < deadline.left();
  const bool come = TRY(poll(is_first ? due_ : deadline));
  if (!come && !due_.passed()) return WakeReason::deadline;
  if (come) TRY(drain_burst());
  if (is_cancelled()) return WakeReason::cancelled;
  if (!due_.passed()) return WakeReason::changed;
  due_ = Deadline::in(interval_);
  changes_.ports = true;
  return WakeReason::due;
}

}  // namespace ibpod::device_plugin
