#include "lib/mad/query.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

namespace ibpod::mad {
namespace {

using Outcomes = std::vector<Outcome<Data>>;

// What the callbacks fill in, all on the scheduler's thread.
struct Gathered {
  Outcomes outcomes;
  size_t missing = 0;
  std::function<void(Outcomes)> done;

  void put(size_t index, const Outcome<Data>& outcome) {
    outcomes[index] = outcome;
    if (--missing == 0) done(std::move(outcomes));
  }
};

std::vector<RequestId> begin(Scheduler& scheduler, std::vector<Request> requests,
                             std::function<void(Outcomes)> done) {
  const auto gathered = std::make_shared<Gathered>();
  gathered->missing = requests.size();
  gathered->outcomes.resize(requests.size(), Failure{});
  gathered->done = std::move(done);
  std::vector<RequestId> ids;
  for (Request& request : requests) {
    const auto put = [gathered, index = ids.size()](const Outcome<Data>& outcome) {
      gathered->put(index, outcome);
    };
    ids.push_back(scheduler.submit(std::move(request), put));
  }
  return ids;
}

// They share it: the scheduler's thread may still hold it when the one that waits has gone on.
struct Awaited {
  std::mutex mutex;
  std::condition_variable all_there;
  std::optional<Outcomes> outcomes;
};

template <typename Value>
std::vector<Outcome<Value>> ask_all(Scheduler& scheduler, const std::vector<Place>& places,
                                    Attribute attribute, Result<Value> (*parse)(const Data&),
                                    const Asking& asking) {
  std::vector<Request> requests;
  for (const Place& place : places) {
    const Question question{.attribute = attribute, .modifier = place.port, .m_key = asking.m_key};
    requests.push_back({place.route, question, asking.terms});
  }
  std::vector<Outcome<Value>> values;
  for (const auto& outcome : gather(scheduler, std::move(requests), asking.stop))
    values.push_back(read<Value>(outcome, parse));
  return values;
}

std::vector<Place> places_of(const std::vector<Route>& nodes) {
  std::vector<Place> places;
  for (const Route& node : nodes) places.push_back({node});
  return places;
}

}  // namespace

void gather_then(Scheduler& scheduler, std::vector<Request> requests,
                 std::function<void(std::vector<Outcome<Data>>)> done) {
  if (requests.empty()) {
    done({});
  } else {
    begin(scheduler, std::move(requests), std::move(done));
  }
}

std::vector<Outcome<Data>> gather(Scheduler& scheduler, std::vector<Request> requests,
                                  const std::stop_token& stop) {
  if (requests.empty()) return {};
  const auto awaited = std::make_shared<Awaited>();
  const auto ids = begin(scheduler, std::move(requests), [awaited](Outcomes outcomes) {
    const std::lock_guard lock(awaited->mutex);
    awaited->outcomes = std::move(outcomes);
    awaited->all_there.notify_one();
  });
  const std::stop_callback cancel_all(stop, [&] {
    for (const RequestId id : ids) scheduler.cancel(id);
  });
  std::unique_lock lock(awaited->mutex);
  awaited->all_there.wait(lock, [&] { return awaited->outcomes.has_value(); });
  return *std::move(awaited->outcomes);
}

std::vector<Outcome<NodeInfo>> read_node_infos(Scheduler& scheduler,
                                               const std::vector<Route>& nodes,
                                               const Asking& asking) {
  return ask_all<NodeInfo>(scheduler, places_of(nodes), Attribute::node_info, parse_node_info,
                           asking);
}

std::vector<Outcome<PortInfo>> read_port_infos(Scheduler& scheduler,
                                               const std::vector<Place>& ports,
                                               const Asking& asking) {
  return ask_all<PortInfo>(scheduler, ports, Attribute::port_info, parse_port_info, asking);
}

std::vector<Outcome<SmInfo>> read_sm_infos(Scheduler& scheduler, const std::vector<Route>& ports,
                                           const Asking& asking) {
  return ask_all<SmInfo>(scheduler, places_of(ports), Attribute::sm_info, parse_sm_info, asking);
}

}  // namespace ibpod::mad
