// ClientSlots: the clients that an HTTP server has, so that nobody keeps others out.
//
// Where all places are taken and one more client comes, one of the owner that has most places gives
// way: its oldest that has not sent its request, or else its oldest that does not take its answer.
// Who waits for an answer keeps its place.
#pragma once

#include "lib/http/connection.h"

#include <cstdint>
#include <map>
#include <string>

namespace ibpod::http {

// Whose a connection is: the IP address at the other end, of IPv6 the network of 64 bits; of a unix
// socket the user, as "uid 0".
std::string owner_of(const Fd& connection);

// For one thread.
class ClientSlots {
 public:
  using Number = uint64_t;  // of a client, in the order they came; never used again
  struct Client {
    Connection connection;
    std::string owner;
  };

  explicit ClientSlots(size_t most) : most_(most) {}

  // False: all places are taken, and all clients wait for their answers.
  bool has_room();
  // Only while there is room.
  Number add(Fd fd);
  // Nothing: it has gone.
  Connection* find(Number number);
  // Those whose exchange has ended, or whose time is over, go; and of those who do not take their
  // answers, of the owner that has most of them, as many as have too much of them together.
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
