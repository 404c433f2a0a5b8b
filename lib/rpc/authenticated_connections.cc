#include "lib/rpc/authenticated_connections.h"

#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <arpa/inet.h>

namespace ibpod::rpc {
namespace {

bool take_prefix(std::string_view& text, std::string_view prefix) {
  const bool there = text.starts_with(prefix);
  if (there) text.remove_prefix(prefix.size());
  return there;
}

// gRPC's "ipv4:10.1.2.3:4711" and "ipv6:%5Bfd00::7%5D:4711"; a scope (%25eth0) is left out.
std::optional<SocketHandle::Peer> parse(std::string_view name) {
  const bool v4 = take_prefix(name, "ipv4:");
  if (!v4 && !(take_prefix(name, "ipv6:%5B") || take_prefix(name, "ipv6:["))) return std::nullopt;
  const size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view number = name.substr(colon + 1);
  const std::string_view before = name.substr(0, colon);
  const std::string text(before.substr(0, v4 ? before.size() : before.find_first_of("%]")));
  SocketHandle::Peer peer{};
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), peer.port);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  std::array<char, 16> bytes{};
  if (::inet_pton(v4 ? AF_INET : AF_INET6, text.c_str(), bytes.data()) != 1) return std::nullopt;
  peer.address.assign(bytes.data(), v4 ? 4 : 16);
  return peer;
}

}  // namespace

void AuthenticatedConnections::set(const std::string& connection, const std::string& account) {
  const auto peer = parse(connection);
  if (!peer) return;
  const std::lock_guard lock(mutex_);
  accounts_[*peer] = account;
}

void AuthenticatedConnections::forget(const SocketHandle::Peer& peer) {
  const std::lock_guard lock(mutex_);
  accounts_.erase(peer);
}

std::map<SocketHandle::Peer, std::string> AuthenticatedConnections::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(accounts_, {});
}

}  // namespace ibpod::rpc
