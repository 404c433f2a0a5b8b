// PostponedBinds: Binds that wait until another attachment has left their port. Each is returned
// once by one of the take functions; the caller answers it.
#pragma once

#include "lib/fabricapi/calls.h"

#include <optional>
#include <set>
#include <vector>

namespace ibpod::sm::controller {

struct PostponedBind {
  using Time = Deadline::Clock::time_point;
  fabricapi::Caller caller;
  fabricapi::BindRequest request;
  fabricapi::CallContext context;
  Time until;
  fabricapi::Done<fabric::Binding> done;
  Error why = Error(Code::busy, "another attachment uses the port");
};

class PostponedBinds {
 public:
  using Time = PostponedBind::Time;

  void add(PostponedBind bind) { binds_.push_back(std::move(bind)); }
  // A binding of this port has been removed: take_ready() returns the Binds that wait for it.
  void port_released(ib::Guid port) { released_.insert(port); }
  std::vector<PostponedBind> take_ready();
  // Binds that their caller has cancelled or whose deadline has passed.
  std::vector<PostponedBind> take_expired(Time now);
  std::vector<PostponedBind> take(const fabric::Attachment& attachment);

  // The earliest deadline; nothing: no Bind waits.
  std::optional<Time> due() const;
  size_t size() const { return binds_.size(); }

 private:
  template <typename Predicate>
  std::vector<PostponedBind> take_if(const Predicate& is_taken);

  std::vector<PostponedBind> binds_;
  std::set<ib::Guid> released_;
};

}  // namespace ibpod::sm::controller
