#include "lib/http/client_slots.h"

#include "lib/ip/peer_address.h"

#include <algorithm>
#include <utility>

#include <sys/socket.h>

namespace ibpod::http {
namespace {

// Bytes of answers that clients may leave untaken together; one client may have any page.
constexpr size_t kUntaken = 64 << 20;

std::string user_of(const Fd& connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
  return "uid " + std::to_string(peer.uid);
}

}  // namespace

std::string owner_of(const Fd& connection) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(connection.get(), reinterpret_cast<sockaddr*>(&peer), &size) != 0) return {};
  return peer.ss_family == AF_UNIX ? user_of(connection) : ip::address_of(peer);
}

bool ClientSlots::has_room() { return all_.size() < most_ || client_to_evict() != all_.end(); }

ClientSlots::Entry ClientSlots::client_to_evict() {
  const auto rank = [&](const Client& client) {
    return std::pair(by_owner_.at(client.owner), client.connection.reads_request());
  };
  Entry found = all_.end();
  for (Entry one = all_.begin(); one != all_.end(); ++one) {
    if (!one->second.connection.waits_for_client()) continue;
    if (found == all_.end() || rank(one->second) > rank(found->second)) found = one;
  }
  return found;
}

ClientSlots::Number ClientSlots::add(Fd fd) {
  if (all_.size() >= most_) remove(client_to_evict());
  std::string owner = owner_of(fd);
  ++by_owner_[owner];
  all_.emplace(next_, Client{Connection(std::move(fd)), std::move(owner)});
  return next_++;
}

Connection* ClientSlots::find(Number number) {
  const auto found = all_.find(number);
  return found == all_.end() ? nullptr : &found->second.connection;
}

void ClientSlots::remove(Entry gone) {
  const auto count = by_owner_.find(gone->second.owner);
  if (--count->second == 0) by_owner_.erase(count);
  all_.erase(gone);
}

void ClientSlots::drop_ended() {
  for (Entry one = all_.begin(); one != all_.end();) {
    const Entry next = std::next(one);
    const Connection& client = one->second.connection;
    if (client.over() || (client.waits_for_client() && client.deadline().passed())) remove(one);
    one = next;
  }
  drop_untaken();
}

// The oldest of the owner that leaves most untaken, as long as it is too much.
void ClientSlots::drop_untaken() {
  while (true) {
    std::map<std::string, size_t> by_owner;
    size_t sum = 0, clients = 0;
    for (const auto& [number, client] : all_) {
      const size_t untaken = client.connection.untaken();
      by_owner[client.owner] += untaken;
      sum += untaken;
      clients += untaken > 0 ? 1 : 0;
    }
    if (sum <= kUntaken || clients < 2) return;
    const auto most = std::max_element(
        by_owner.begin(), by_owner.end(),
        [](const auto& one, const auto& other) { return one.second < other.second; });
    remove(std::find_if(all_.begin(), all_.end(), [&](const auto& entry) {
      const Client& client = entry.second;
      return client.owner == most->first && client.connection.untaken() > 0;
    }));
  }
}

}  // namespace ibpod::http
