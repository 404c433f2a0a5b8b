// UmadPort: an open port of an adapter, as libibumad has it: one descriptor for packets of both
// kinds of route. The kernel pairs answers with what was sent and drops the rest.
#pragma once

#include "lib/ib/guid.h"
#include "lib/mad/channel.h"

#include <memory>
#include <string>

namespace ibpod::mad {

// A port of this machine.
struct LocalPort {
  std::string device;  // RDMA device: "mlx5_0"
  uint8_t number = 0;  // on it: 1, 2 …
  ib::Guid guid;
};
// An empty name is the first device with an active port, or the first one; port 0 is its first
// active port, or its first one. not_found, with the ports that there are, if it is none of them.
Result<LocalPort> local_port(const std::string& device, uint8_t number);
Result<LocalPort> local_port(ib::Guid guid);

// Any thread may send while another one takes.
class UmadPort {
 public:
  static Result<std::shared_ptr<const UmadPort>> open(const LocalPort& port);
  UmadPort(const UmadPort&) = delete;
  UmadPort& operator=(const UmadPort&) = delete;
  UmadPort(UmadPort&&) = delete;
  UmadPort& operator=(UmadPort&&) = delete;
  ~UmadPort();

  Status send(const Mad& mad, const Route& route, Duration wanted) const;
  // Readable when there may be something to take, or never will be again.
  int fd() const;
  enum class TakeResult { one, none, closed };
  // Never: the port is gone.
  TakeResult take(Arrival& arrival) const;

 private:
  explicit UmadPort(int port) : port_(port) {}

  int port_;  // libibumad's name for it
  int by_lid_ = -1;
  int directed_ = -1;
};

}  // namespace ibpod::mad
