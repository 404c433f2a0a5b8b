// Connection: whether UFM answers and accepts our calls, and when it may be called again. Reads and
// changes fail apart: a user may have no right to change, or UFM may fail only there.
#pragma once

#include "lib/base/back_off.h"
#include "lib/base/result.h"
#include "sm/engine/subnet_manager.h"
#include "sm/ufm/ufm_api.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace ibpod::sm::ufm {

class Connection {
 public:
  using Time = Deadline::Clock::time_point;
  enum class Use { read, change };

  // `random`: a number from 0 to 1 for each pause, so that several clients do not call together.
  explicit Connection(std::function<double()> random) : random_(std::move(random)) {}

  void succeeded(Use use);
  // With unavailable, or denied. The next call waits.
  void failed(Use use, const Error& error, Peer peer, Time now);
  // No change is pending, so the failure of the last one does not matter any more.
  void no_change_pending() { change_ = State(); }

  bool may(Use use, Time now) const { return now >= not_before(use); }
  Time not_before(Use use) const { return state(use).not_before; }

  // serving, gone, not_master, refused, or stuck if only changes fail. One lost answer is no fault.
  engine::Health health() const;
  // The fault and its remedy; empty if there is none.
  std::string trouble() const;

 private:
  struct State {
    std::optional<Error> error = {};
    Peer peer = Peer::none;
    uint64_t failures = 0;  // in a row
    BackOff pauses{Duration(1000), Duration(60'000)};
    Time not_before{};
  };
  const State& state(Use use) const { return use == Use::read ? read_ : change_; }
  State& state(Use use) { return use == Use::read ? read_ : change_; }
  const State* fault() const;

  std::function<double()> random_;
  State read_, change_;
};

}  // namespace ibpod::sm::ufm
