// CallContext: a call's deadline, and whether its caller has cancelled it.
#pragma once

#include "lib/base/clock.h"

#include <functional>
#include <utility>

namespace ibpod::fabricapi {

class CallContext {
 public:
  // `gone`, called on any thread: true once the caller has cancelled the call. Empty: it cannot be
  // cancelled.
  CallContext(Deadline until, std::function<bool()> gone = {})
      : deadline_(until), is_cancelled_(std::move(gone)) {}

  Deadline deadline() const { return deadline_; }
  bool is_cancelled() const { return is_cancelled_ && is_cancelled_(); }

 private:
  Deadline deadline_;
  std::function<bool()> is_cancelled_;
};

}  // namespace ibpod::fabricapi
