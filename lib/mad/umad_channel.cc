#include "lib/mad/umad_channel.h"

#include <array>
#include <cerrno>
#include <utility>

#include <poll.h>

namespace ibpod::mad {
namespace {

constexpr Duration kBetweenOpenings{1000};

}  // namespace

Result<std::unique_ptr<Channel>> UmadChannel::open(const LocalPort& port) {
  Wake wake = TRY(Wake::open());
  Port opened = TRY(UmadPort::open(port));
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): make_unique cannot reach the constructor.
  return std::unique_ptr<Channel>(new UmadChannel(port.guid, std::move(opened), std::move(wake)));
}

UmadChannel::~UmadChannel() {
  stopping_ = true;
  wake_.ring();
  if (!thread_.joinable()) return;
  // The simulator's poll() heeds the port alone: what comes back to it wakes the thread there.
  (void)send(encode(SmpRequest{}, Route::own(), 0), Route::own(), Duration(1)).ok();
  thread_.join();
}

void UmadChannel::receive(Receiver receiver) {
  receiver_ = std::move(receiver);
  thread_ = std::thread([this] { run(); });
}

UmadChannel::Port UmadChannel::port() const {
  const std::lock_guard lock(mutex_);
  return port_;
}

Status UmadChannel::send(const Mad& mad, const Route& route, Duration wanted) {
  const Port port = this->port();
  if (!port) return Error(Code::unavailable, "the local port is gone");
  return port->send(mad, route, wanted);
}

void UmadChannel::run() {
  while (!stopping_) {
    take_from(*port());
    if (!stopping_) reopen();
  }
}

// Until the port is gone, or the end.
void UmadChannel::take_from(const UmadPort& port) {
  UmadPort::TakeResult taken = UmadPort::TakeResult::none;
  while (!stopping_ && taken != UmadPort::TakeResult::closed) {
    if (taken == UmadPort::TakeResult::none && !wait(port)) return;
    Arrival arrival;
    taken = port.take(arrival);
    if (taken == UmadPort::TakeResult::one) receiver_(arrival);
  }
}

// False: the port is gone, and nothing will ever come from it.
bool UmadChannel::wait(const UmadPort& port) const {
  std::array<pollfd, 2> waited{{{port.fd(), POLLIN, 0}, {wake_.fd(), POLLIN, 0}}};
  const int ready = ::poll(waited.data(), waited.size(), -1);
  if (ready < 0) return errno == EINTR;
  return (waited[0].revents & (POLLERR | POLLHUP | POLLNVAL)) == 0;
}

// Nothing tells that a port is back but that it can be opened.
void UmadChannel::reopen() {
  {
    const std::lock_guard lock(mutex_);
    port_.reset();
  }
  pollfd woken{wake_.fd(), POLLIN, 0};
  while (!stopping_) {
    ::poll(&woken, 1, static_cast<int>(kBetweenOpenings.count()));
    if (stopping_) return;
    // By its GUID: names and numbers of devices are given again.
    const Result<LocalPort> found = local_port(guid_);
    if (!found) continue;
    Result<Port> opened = UmadPort::open(*found);
    if (!opened) continue;
    const std::lock_guard lock(mutex_);
    port_ = std::move(opened).value();
    return;
  }
}

}  // namespace ibpod::mad
