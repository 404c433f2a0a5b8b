#include "lib/http/address.h"

#include <array>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace ibpod::http {
namespace {

constexpr int kBacklog = 1024;
constexpr std::string_view kUnix = "unix:";

struct Socket {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Error no_address(std::string_view text) {
  return Error(Code::invalid, "\"" + std::string(text) +
                                  "\" is not an address to listen on: expected 127.0.0.1:9464, "
                                  "[::1]:9464, :9464 or unix:/path");
}

bool is_ip(int family, const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(family, host.c_str(), bytes.data()) == 1;
}

bool is_v6(const std::string& host) { return host.find(':') != host.npos; }

Result<Address> parse_unix(std::string_view path) {
  if (!path.starts_with('/')) return no_address(std::string(kUnix) + std::string(path));
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return Error(Code::invalid, std::string(path) +
                                    ": the path of a Unix socket has at most 107 bytes, not " +
                                    std::to_string(path.size()));
  }
  return Address{.host = {}, .port = 0, .socket = path};
}

Socket socket_of(const Address& address) {
  Socket socket;
  if (!address.socket.empty()) {
    auto* const name = reinterpret_cast<sockaddr_un*>(socket.get());
    name->sun_family = AF_UNIX;
    const std::string& path = address.socket.native();
    std::memcpy(name->sun_path, path.c_str(), std::min(path.size() + 1, sizeof name->sun_path));
    socket.size = sizeof *name;
  } else if (!address.host.empty() && !is_v6(address.host)) {
    auto* const name = reinterpret_cast<sockaddr_in*>(socket.get());
    name->sin_family = AF_INET;
    name->sin_port = htons(address.port);
    ::inet_pton(AF_INET, address.host.c_str(), &name->sin_addr);
    socket.size = sizeof *name;
  } else {
    auto* const name = reinterpret_cast<sockaddr_in6*>(socket.get());
    name->sin6_family = AF_INET6;
    name->sin6_port = htons(address.port);
    if (!address.host.empty()) ::inet_pton(AF_INET6, address.host.c_str(), &name->sin6_addr);
    socket.size = sizeof *name;
  }
  return socket;
}

Result<Fd> make_socket(int family) {
  return Fd(TRY(sys("make a socket", [&] {
    return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  })));
}

// Takes away what a server that is gone has left.
Status clear_stale(const Address& address) {
  struct stat found;
  if (::lstat(address.socket.c_str(), &found) != 0) return ok();
  if (!S_ISSOCK(found.st_mode))
    return Error(Code::exists, address.socket.string() + ": a file that is not a socket is there");
  const Fd probe = TRY(make_socket(AF_UNIX));
  const Socket name = socket_of(address);
  const auto connected =
      sys("connect", [&] { return ::connect(probe.get(), name.get(), name.size); });
  if (connected || connected.error().error_number() != ECONNREFUSED)
    return Error(Code::busy, address.socket.string() + ": another process listens there");
  return remove_file(address.socket);
}

// Sets the mode of a unix socket, before it has a name. A port can be taken again at once; on every
// interface, both protocols are accepted.
Status prepare(const Fd& fd, const Address& address) {
  if (!address.socket.empty()) {
    TRY(sys("set the mode of a socket", [&] { return ::fchmod(fd.get(), 0600); }));
    return clear_stale(address);
  }
  const int yes = 1;
  const int no = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (address.host.empty()) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  return ok();
}

}  // namespace

Result<Address> Address::parse(std::string_view text) {
  // inet_pton(), connect() and files would read up to a NUL and call the rest good.
  if (text.find('\0') != text.npos) return no_address(text);
  if (text.starts_with(kUnix)) return parse_unix(text.substr(kUnix.size()));
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return no_address(text);
  const std::string_view digits = text.substr(colon + 1);
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  Address address{.host = std::string(host), .port = 0, .socket = {}};
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, address.port);
  const bool number = !digits.empty() && error == std::errc() && stopped == end;
  const bool any = host.empty() && !bracketed;
  if (number && (any || is_ip(bracketed ? AF_INET6 : AF_INET, address.host))) return address;
  return no_address(text);
}

std::string Address::text() const {
  if (!socket.empty()) return std::string(kUnix) + socket.string();
  return (is_v6(host) ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool Address::local() const { return !socket.empty() || host == "::1" || host.starts_with("127."); }

Result<Fd> listen_on(const Address& address) {
  const std::string what = "listen on " + address.text();
  const Socket name = socket_of(address);
  Fd fd = TRY(make_socket(name.get()->sa_family).during(what));
  TRY(prepare(fd, address).during(what));
  TRY(sys(what, [&] { return ::bind(fd.get(), name.get(), name.size); }));
  TRY(sys(what, [&] { return ::listen(fd.get(), kBacklog); }));
  return fd;
}

Result<Address> bound_address(const Fd& listening, const Address& asked) {
  Socket name;
  name.size = sizeof name.storage;
  TRY(sys("getsockname", [&] { return ::getsockname(listening.get(), name.get(), &name.size); }));
  Address bound = asked;
  if (name.get()->sa_family == AF_INET)
    bound.port = ntohs(reinterpret_cast<const sockaddr_in*>(name.get())->sin_port);
  if (name.get()->sa_family == AF_INET6)
    bound.port = ntohs(reinterpret_cast<const sockaddr_in6*>(name.get())->sin6_port);
  return bound;
}

}  // namespace ibpod::http
