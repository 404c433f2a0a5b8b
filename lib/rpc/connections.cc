#include "lib/rpc/connections.h"

namespace ibpod::rpc {

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
