#include "lib/rpc/connections.h"

#include <array>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace ibpod::rpc {
namespace {

std::string text_of(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(family, address, text.data(), text.size()) == nullptr) return {};
  return text.data();
}

}  // namespace

std::string address_of(const sockaddr_storage& peer) {
  if (peer.ss_family == AF_INET)
    return text_of(AF_INET, &reinterpret_cast<const sockaddr_in&>(peer).sin_addr);
  if (peer.ss_family != AF_INET6) return {};
  in6_addr address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address)) return text_of(AF_INET, &address.s6_addr[12]);
  std::memset(&address.s6_addr[8], 0, 8);
  return text_of(AF_INET6, &address);
}

bool Connections::full() {
  if (open_.size() < most_.all) return false;
  forget_closed();
  return open_.size() >= most_.all;
}

bool Connections::admits(const std::string& address) {
  if (of(address) < most_.of_one_address) return true;
  forget_closed();
  return of(address) < most_.of_one_address;
}

Status Connections::add(int given, const std::string& address) {
  const SocketHandle socket = TRY(SocketHandle::of(given));
  const auto earlier = open_.find(given);
  if (earlier != open_.end()) forget(earlier);
  open_.emplace(given, Open{socket, address});
  ++by_address_[address];
  return ok();
}

size_t Connections::of(const std::string& address) const {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? 0 : found->second;
}

void Connections::forget(std::map<int, Open>::iterator gone) {
  const auto count = by_address_.find(gone->second.address);
  if (--count->second == 0) by_address_.erase(count);
  open_.erase(gone);
}

void Connections::forget_closed() {
  if (!looks_.passed()) return;
  looks_ = Deadline::in(most_.apart);
  for (auto one = open_.begin(); one != open_.end();) {
    const auto next = std::next(one);
    if (!one->second.socket.open()) forget(one);
    one = next;
  }
}

}  // namespace ibpod::rpc
