// Many requests at once, and all that comes of them. The calling thread waits; it must not be a
// scheduler's.
#pragma once

#include "lib/mad/node_info.h"
#include "lib/mad/port_info.h"
#include "lib/mad/scheduler.h"
#include "lib/mad/sm_info.h"

#include <functional>
#include <stop_token>
#include <vector>

namespace ibpod::mad {

// The outcomes in the order of the requests. It returns when each has ended, which is by the latest
// of their deadlines; `stop` cancels those that have not.
std::vector<Outcome<Data>> query_all(Scheduler& scheduler, std::vector<Request> requests,
                                     const std::stop_token& stop = {});

// The same without waiting: `done` is called once, when each request has ended, on the scheduler's
// thread (if there are no requests, before this returns), and must be as short as a
// Scheduler::Done.
void query_all_async(Scheduler& scheduler, std::vector<Request> requests,
                     std::function<void(std::vector<Outcome<Data>>)> done);

// The parsed value of an answer; malformed if its data cannot be read.
template <typename Value>
Outcome<Value> parse_outcome(const Outcome<Data>& outcome, Result<Value> (*parse)(const Data&)) {
  if (const Failure* failure = failure_of(outcome)) return *failure;
  Outcome<Value> told = Failure{Reason::malformed, 0};
  if (Result<Value> value = parse(*value_of(outcome))) told = *std::move(value);
  return told;
}

// The node that is asked, and its port: an adapter answers about the port through which the
// question came in, a switch about any of its ports (0: its own).
struct PortAddress {
  Route route = Route::own();
  uint8_t port = 0;
  bool operator==(const PortAddress&) const = default;
};

// How all questions of a gathering are put.
struct QueryOptions {
  RetryPolicy retry = {};
  MKey m_key = MKey::none;
  std::stop_token stop = {};
};

std::vector<Outcome<NodeInfo>> read_node_infos(Scheduler& scheduler,
                                               const std::vector<Route>& nodes,
                                               const QueryOptions& options);
std::vector<Outcome<PortInfo>> read_port_infos(Scheduler& scheduler,
                                               const std::vector<PortAddress>& ports,
                                               const QueryOptions& options);
// refused, or silence, by ports at which no subnet manager runs.
std::vector<Outcome<SmInfo>> read_sm_infos(Scheduler& scheduler, const std::vector<Route>& ports,
                                           const QueryOptions& options);

}  // namespace ibpod::mad
