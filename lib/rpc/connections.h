// Connections: those that a server has, so that nobody has too many.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/fd.h"
#include "lib/base/result.h"
#include "lib/rpc/socket_handle.h"

#include <cstdint>
#include <map>
#include <string>

namespace ibpod::rpc {

// gRPC closes connections and tells nobody. So all of them are looked at (SocketHandle), which is a
// system call for each, when a connection comes while there are as many as there may be; but not
// more often than every `apart`, until when those of before count. For one thread.
class Connections {
 public:
  struct Most {
    size_t all = 4096;
    size_t of_one_address = 1024;  // nodes behind one address translator share it
    Duration apart{20};
  };
  explicit Connections(Most most) : most_(most) {}

  // Whether there is a place left at all.
  bool full();
  // Whether `address` may have one more.
  bool admits(const std::string& address);
  // `given` is the descriptor that gRPC gets.
  Status add(int given, const std::string& address);
  size_t size() const { return open_.size(); }

 private:
  struct Open {
    SocketHandle socket;
    std::string address;
  };
  size_t of(const std::string& address) const;
  void forget(std::map<int, Open>::iterator gone);
  void forget_closed();

  const Most most_;
  std::map<int, Open> open_;
  std::map<std::string, size_t> by_address_;
  Deadline looks_ = Deadline::in(Duration(0));  // not before
};

}  // namespace ibpod::rpc
