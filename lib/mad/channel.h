// Channel: the seam between the logic and the wire. Packets go in by send(), whatever comes back is
// handed over. It keeps no books: schedule.h knows what is awaited and for how long.
#pragma once

#include "lib/base/clock.h"
#include "lib/mad/smp.h"

#include <functional>
#include <optional>

namespace ibpod::mad {

// A packet that came back, or the report that it was not answered. Its content is not trusted.
struct Arrival {
  Mad mad = {};
  // False: the channel itself says that this packet of ours was not answered; `mad` holds at least
  // its transaction. Not every channel says so, or in time.
  bool answered = true;
  // The LID that it came from, where the channel knows it.
  std::optional<ib::Lid> source = {};
};

class Channel {
 public:
  using Receiver = std::function<void(const Arrival&)>;

  virtual ~Channel() = default;
  // From here on every arrival is handed to `receiver`, one at a time and in the order they came,
  // on a thread of the channel's own. Once, before the first send(). `receiver` may call send().
  // When the destructor has returned it is not running and will not run again.
  virtual void receive(Receiver receiver) = 0;
  // Sends a packet; any thread may. It never waits for the answer. `wanted` is for how long an
  // answer is of use: afterwards the channel may forget the packet. No two packets that are wanted
  // at the same time have the same transaction. The error is the channel's own (no such device, no
  // memory …): that a node cannot be reached shows as silence.
  virtual Status send(const Mad& mad, const Route& route, Duration wanted) = 0;
};

}  // namespace ibpod::mad
