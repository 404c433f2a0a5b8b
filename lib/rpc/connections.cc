#include "lib/rpc/connections.h"

namespace ibpod::rpc {

bool Connections::full() {
  look();
  return open_.size() >= most_.all || ended_ >= most_.ended;
}

bool Connections::admits(const std::string& address) {
  look();
  const Number number = of(address);
  return number.open < most_.of_one_address && number.ended < most_.ended_of_one_address;
}

Status Connections::add(int given, const std::string& address) {
  const SocketHandle socket = TRY(SocketHandle::of(given));
  const auto earlier = open_.find(given);
  if (earlier != open_.end()) forget(earlier);
  open_.emplace(given, Open{socket, address});
  ++by_address_[address].open;
  return ok();
}

Connections::Number Connections::of(const std::string& address) const {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? Number{} : found->second;
}

void Connections::forget(std::map<int, Open>::iterator gone) {
  const auto number = by_address_.find(gone->second.address);
  if (gone->second.ended) --number->second.ended, --ended_;
  if (--number->second.open == 0) by_address_.erase(number);
  open_.erase(gone);
}

void Connections::look() {
  if (!looks_.passed()) return;
  looks_ = Deadline::in(most_.apart);
  for (auto one = open_.begin(); one != open_.end();) {
    const auto next = std::next(one);
    if (!one->second.socket.open()) {
      forget(one);
    } else if (!one->second.ended && one->second.socket.ended()) {
      one->second.ended = true;
      ++by_address_[one->second.address].ended;
      ++ended_;
    }
    one = next;
  }
}

}  // namespace ibpod::rpc
