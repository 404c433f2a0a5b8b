// ClientSlots: the clients of an HTTP server, limited so that one owner cannot keep others out.
// || If all slots are taken when a client connects, the owner with the most slots loses one: its
// oldest that has not sent its request, else its oldest that does not read its answer. A client
// that waits for an answer keeps its slot.
#pragma once

#include "lib/http/connection.h"

#include <cstdint>
#include <map>
#include <string>

namespace ibpod::http {

// The owner of a connection: its IP address (of IPv6 the /64 network), or for a Unix socket the
// user, as "uid 0".
std::string owner_of(const Fd& connection);

// For one thread.
class ClientSlots {
 public:
  using Number = uint64_t;  // of a client, increasing; never reused
  struct Client {
    Connection connection;
    std::string owner;
  };

  explicit ClientSlots(size_t most) : most_(most) {}

  // False if all slots are taken and all clients wait for their answers.
  bool has_room();
  // Only if has_room().
  Number add(Fd fd);
  // Null if it has gone.
  Connection* find(Number number);
  // Removes clients whose exchange has ended or timed out, and clients of the owner with the most
  // unread answers while these exceed the limit.
  void drop_ended();
  std::map<Number, Client>& all() { return all_; }

 private:
  using Entry = std::map<Number, Client>::iterator;
  Entry client_to_evict();
  void remove(Entry gone);
  void drop_untaken();

  const size_t most_;
  std::map<Number, Client> all_;
  std::map<std::string, size_t> by_owner_;
  Number next_ = 0;
};

}  // namespace ibpod::http
