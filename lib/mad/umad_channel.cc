#include "lib/mad/umad_channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <vector>

#include <endian.h>
#include <infiniband/umad.h>
#include <poll.h>

namespace ibpod::mad {
namespace {

constexpr uint8_t kLidRouted = 0x01;
constexpr uint8_t kDirectedRoute = 0x81;
constexpr int kClassVersion = 1;
constexpr int kPermissiveLid = 0xffff;
constexpr int kMadBytes = static_cast<int>(std::tuple_size_v<Mad>);

std::vector<std::byte> new_buffer() {
  return std::vector<std::byte>(umad_size() + std::tuple_size_v<Mad>);
}

std::byte* mad_in(std::vector<std::byte>& buffer) {
  return static_cast<std::byte*>(umad_get_mad(buffer.data()));
}

// The kernel awaits no answer to what has no time at all.
int milliseconds(Duration wanted) {
  constexpr Duration::rep kMost = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp<Duration::rep>(wanted.count(), 1, kMost));
}

}  // namespace

Result<std::unique_ptr<Channel>> UmadChannel::open(const std::string& device, uint8_t port) {
  Wake wake = TRY(Wake::open());
  umad_init();
  const int opened = umad_open_port(device.empty() ? nullptr : device.c_str(), port);
  if (opened < 0)
    return Error::from_errno(-opened, "open port " + std::to_string(port) + " of " +
                                          (device.empty() ? "the first device" : device));
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): make_unique cannot reach the constructor.
  std::unique_ptr<UmadChannel> channel(new UmadChannel(opened, std::move(wake)));
  channel->agents_.by_lid = TRY(registered(opened, kLidRouted));
  channel->agents_.directed = TRY(registered(opened, kDirectedRoute));
  return std::unique_ptr<Channel>(std::move(channel));
}

// Without a method it is an agent for answers only: traps and the questions of others go on to the
// subnet manager.
Result<int> UmadChannel::registered(int port, uint8_t management_class) {
  const int agent = umad_register(port, management_class, kClassVersion, 0, nullptr);
  if (agent < 0) return Error::from_errno(errno, "register for subnet management");
  return agent;
}

UmadChannel::~UmadChannel() {
  stopping_ = true;
  wake_.ring();
  if (thread_.joinable()) {
    // The simulator's poll() heeds the port alone: what comes back to it wakes the thread there.
    (void)send(encode(Question{}, Route::own(), 0), Route::own(), Duration(1)).ok();
    thread_.join();
  }
  umad_close_port(port_);
}

void UmadChannel::receive(Receiver receiver) {
  receiver_ = std::move(receiver);
  thread_ = std::thread([this] { run(); });
}

Status UmadChannel::send(const Mad& mad, const Route& route, Duration wanted) {
  std::vector<std::byte> buffer = new_buffer();
  std::copy(mad.begin(), mad.end(), mad_in(buffer));
  umad_set_addr(buffer.data(), route.directed() ? kPermissiveLid : route.lid(), 0, 0, 0);
  const int agent = route.directed() ? agents_.directed : agents_.by_lid;
  errno = 0;
  if (umad_send(port_, agent, buffer.data(), kMadBytes, milliseconds(wanted), 0) == 0) return ok();
  return Error::from_errno(errno == 0 ? EIO : errno, "send to " + route.text());
}

void UmadChannel::run() {
  std::vector<std::byte> buffer = new_buffer();
  Taken taken = Taken::none;
  while (!stopping_ && taken != Taken::never) {
    if (taken == Taken::none && !wait()) return;
    taken = take(buffer);
  }
}

// False: the port is gone, and nothing will ever come.
bool UmadChannel::wait() const {
  std::array<pollfd, 2> waited{{{umad_get_fd(port_), POLLIN, 0}, {wake_.fd(), POLLIN, 0}}};
  const int ready = ::poll(waited.data(), waited.size(), -1);
  if (ready < 0) return errno == EINTR;
  return (waited[0].revents & (POLLERR | POLLHUP | POLLNVAL)) == 0;
}

// Hands on one packet. Never: the port is gone, and asking again would be asked without pause.
UmadChannel::Taken UmadChannel::take(std::vector<std::byte>& buffer) {
  int length = kMadBytes;
  std::fill(buffer.begin(), buffer.end(), std::byte{0});
  errno = 0;
  const int agent = umad_recv(port_, buffer.data(), &length, 0);
  if (agent < 0) return agent == -EWOULDBLOCK || agent == -EINTR ? Taken::none : Taken::never;
  Arrival arrival;
  std::copy_n(mad_in(buffer), arrival.mad.size(), arrival.mad.begin());
  arrival.answered = umad_status(buffer.data()) == 0;
  arrival.source = be16toh(umad_get_mad_addr(buffer.data())->lid);
  receiver_(arrival);
  return Taken::one;
}

}  // namespace ibpod::mad
