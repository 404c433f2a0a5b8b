#include "lib/mad/umad_port.h"

#include "lib/base/files.h"
#include "lib/base/join.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>
#include <vector>

#include <endian.h>
#include <infiniband/umad.h>

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

// Without a method it is an agent for answers only: traps and the questions of others go on to the
// subnet manager.
Result<int> registered(int port, uint8_t management_class) {
  const int agent = umad_register(port, management_class, kClassVersion, 0, nullptr);
  if (agent < 0) return Error::from_errno(errno, "register for subnet management");
  return agent;
}

// ib_umad lists its devices here.
const Path kMadClass = "/sys/class/infiniband_mad";

Error no_umad() {
  return {Code::not_found,
          "the module ib_umad, which management packets need, is not loaded: run modprobe ib_umad; "
          "for every boot: echo ib_umad > /etc/modules-load.d/ib_umad.conf"};
}

std::vector<LocalPort> local_ports() {
  std::array<char[UMAD_CA_NAME_LEN], UMAD_MAX_DEVICES> names = {};
  const int devices = umad_get_cas_names(names.data(), UMAD_MAX_DEVICES);
  std::vector<LocalPort> all;
  for (size_t device = 0; std::cmp_less(device, devices); ++device) {
    std::array<__be64, UMAD_CA_MAX_PORTS> guids = {};
    const int ports = umad_get_ca_portguids(names[device], guids.data(), UMAD_CA_MAX_PORTS);
    for (size_t port = 1; std::cmp_less(port, ports); ++port)
      all.push_back({names[device], static_cast<uint8_t>(port), ib::Guid(be64toh(guids[port]))});
  }
  return all;
}

// With those that there are: `ibstat` shows node GUIDs beside them, and names change.
Error no_port(const std::string& wanted) {
  const std::vector<LocalPort> all = local_ports();
  if (wanted.empty() || all.empty())
    return {Code::not_found, "this machine has no InfiniBand port"};
  const auto text_of = [](const LocalPort& port) {
    return port.device + " port " + std::to_string(port.number) + " with the GUID " +
           port.guid.text();
  };
  return {Code::not_found,
          "this machine has no " + wanted + "; its ports are " + join_first(8, all, text_of)};
}

}  // namespace

Result<LocalPort> local_port(const std::string& device, uint8_t number) {
  umad_init();
  umad_port_t found = {};
  if (umad_get_port(device.empty() ? nullptr : device.c_str(), number, &found) != 0)
    return no_port(number == 0
                       ? device
                       : (device.empty() ? "" : device + " ") + "port " + std::to_string(number));
  LocalPort port{found.ca_name, static_cast<uint8_t>(found.portnum),
                 ib::Guid(be64toh(found.port_guid))};
  umad_release_port(&found);
  return port;
}

Result<LocalPort> local_port(ib::Guid guid) {
  umad_init();
  for (LocalPort& port : local_ports())
    if (port.guid == guid) return std::move(port);
  return no_port("port with the GUID " + guid.text());
}

Result<std::shared_ptr<const UmadPort>> UmadPort::open(const LocalPort& port) {
  umad_init();
  const int opened = umad_open_port(port.device.c_str(), port.number);
  if (opened < 0) {
    Error error = Error::from_errno(
        -opened, "open port " + std::to_string(port.number) + " of " + port.device);
    return path_exists(kMadClass) ? error : std::move(error).also(no_umad());
  }
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): make_shared cannot reach the constructor.
  const std::shared_ptr<UmadPort> made(new UmadPort(opened));
  made->by_lid_ = TRY(registered(opened, kLidRouted));
  made->directed_ = TRY(registered(opened, kDirectedRoute));
  return std::shared_ptr<const UmadPort>(made);
}

UmadPort::~UmadPort() { umad_close_port(port_); }

int UmadPort::fd() const { return umad_get_fd(port_); }

Status UmadPort::send(const Mad& mad, const Route& route, Duration wanted) const {
  std::vector<std::byte> buffer = new_buffer();
  std::copy(mad.begin(), mad.end(), mad_in(buffer));
  umad_set_addr(buffer.data(), route.directed() ? kPermissiveLid : route.lid(), 0, 0, 0);
  const int agent = route.directed() ? directed_ : by_lid_;
  errno = 0;
  if (umad_send(port_, agent, buffer.data(), kMadBytes, milliseconds(wanted), 0) == 0) return ok();
  return Error::from_errno(errno == 0 ? EIO : errno, "send to " + route.text());
}

UmadPort::TakeResult UmadPort::take(Arrival& arrival) const {
  std::vector<std::byte> buffer = new_buffer();
  int length = kMadBytes;
  errno = 0;
  const int agent = umad_recv(port_, buffer.data(), &length, 0);
  if (agent < 0)
    return agent == -EWOULDBLOCK || agent == -EINTR ? TakeResult::none : TakeResult::closed;
  std::copy_n(mad_in(buffer), arrival.mad.size(), arrival.mad.begin());
  arrival.answered = umad_status(buffer.data()) == 0;
  arrival.source = be16toh(umad_get_mad_addr(buffer.data())->lid);
  return TakeResult::one;
}

}  // namespace ibpod::mad
