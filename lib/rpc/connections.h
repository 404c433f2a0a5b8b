// Connections: the open connections of a server, limited by number.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/fd.h"
#include "lib/base/result.h"
#include "lib/rpc/socket_handle.h"

#include <cstdint>
#include <map>
#include <string>

namespace ibpod::rpc {

// gRPC closes connections without a report. So all of them are checked (SocketHandle), with two
// system calls for each, when a connection comes; but at most once every `apart`, and until then
// the last result counts. For one thread.
//
// A connection that has ended, by its other end or because it was cut, stays with gRPC until the
// last of its calls is done. Each of them has memory, and one client can begin more of them than
// gRPC ends. So an address with many such connections gets no new one until they are done.
class Connections {
 public:
  struct Most {
    size_t all = 4096;
    size_t of_one_address = 1024;  // nodes that use one address translator share it
    size_t ended = 32;             // of all
    size_t ended_of_one_address = 4;
    Duration apart{20};
  };
  explicit Connections(Most most) : most_(most) {}

  // True if no slot is free for any address.
  bool full();
  // True if `address` may have one more.
  bool admits(const std::string& address);
  // `given` is the descriptor that gRPC gets.
  Status add(int given, const std::string& address);
  size_t size() const { return open_.size(); }

 private:
  struct Open {
    SocketHandle socket;
    std::string address;
    bool ended = false;  // when it was looked at last
  };
  struct Number {
    size_t open = 0, ended = 0;
  };
  Number of(const std::string& address) const;
  void forget(std::map<int, Open>::iterator gone);
  void look();

  const Most most_;
  std::map<int, Open> open_;
  std::map<std::string, Number> by_address_;
  size_t ended_ = 0;
  Deadline looks_ = Deadline::in(Duration(0));  // not before
};

}  // namespace ibpod::rpc
