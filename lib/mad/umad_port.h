// UmadPort: an open port of an adapter, as libibumad has it: one descriptor for packets of both
// kinds of route. The kernel pairs answers with what was sent and drops the rest.
#pragma once

#include "lib/mad/channel.h"

#include <memory>
#include <string>

namespace ibpod::mad {

// Any thread may send while another one takes.
class UmadPort {
 public:
  // As UmadChannel::open().
  static Result<std::shared_ptr<const UmadPort>> open(const std::string& device, uint8_t port);
  UmadPort(const UmadPort&) = delete;
  UmadPort& operator=(const UmadPort&) = delete;
  UmadPort(UmadPort&&) = delete;
  UmadPort& operator=(UmadPort&&) = delete;
  ~UmadPort();

  Status send(const Mad& mad, const Route& route, Duration wanted) const;
  // Readable when there may be something to take, or never will be again.
  int fd() const;
  enum class Taken { one, none, never };
  // Never: the port is gone.
  Taken take(Arrival& arrival) const;

 private:
  explicit UmadPort(int port) : port_(port) {}

  int port_;  // libibumad's name for it
  int by_lid_ = -1;
  int directed_ = -1;
};

}  // namespace ibpod::mad
