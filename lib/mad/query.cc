#include "lib/mad/query.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

namespace ibpod::mad {
namespace {

using Outcomes = std::vector<Outcome<Data>>;

// The callbacks fill it in, all on the scheduler's thread.
struct Batch {
  Outcomes outcomes;
  size_t missing = 0;
  std::function<void(Outcomes)> done;

  void put(size_t index, const Outcome<Data>& outcome) {
    outcomes[index] = outcome;
    if (--missing == 0) done(std::move(outcomes));
  }
};

std::vector<RequestId> submit_all(Scheduler& scheduler, std::vector<Request> requests,
                                  std::function<void(Outcomes)> done) {
  const auto batch = std::make_shared<Batch>();
  batch->missing = requests.size();
  batch->outcomes.resize(requests.size(), Failure{});
  batch->done = std::move(done);
  std::vector<RequestId> ids;
  for (Request& request : requests) {
    const auto put = [batch, index = ids.size()](const Outcome<Data>& outcome) {
      batch->put(index, outcome);
    };
    ids.push_back(scheduler.submit(std::move(request), put));
  }
  return ids;
}

// They share it: the scheduler's thread may still hold it when the one that waits has gone on.
struct BatchWaiter {
  std::mutex mutex;
  std::condition_variable all_there;
  std::optional<Outcomes> outcomes;
};

template <typename Value>
std::vector<Outcome<Value>> query_attribute(Scheduler& scheduler,
                                            const std::vector<PortAddress>& addresses,
                                            Attribute attribute,
                                            Result<Value> (*parse)(const Data&),
                                            const QueryOptions& options) {
  std::vector<Request> requests;
  for (const PortAddress& address : addresses) {
    const SmpRequest question{
        .attribute = attribute, .modifier = address.port, .m_key = options.m_key};
    requests.push_back({address.route, question, options.retry});
  }
  std::vector<Outcome<Value>> values;
  for (const auto& outcome : query_all(scheduler, std::move(requests), options.stop))
    values.push_back(parse_outcome<Value>(outcome, parse));
  return values;
}

std::vector<PortAddress> addresses_of(const std::vector<Route>& nodes) {
  std::vector<PortAddress> addresses;
  for (const Route& node : nodes) addresses.push_back({node});
  return addresses;
}

}  // namespace

void query_all_async(Scheduler& scheduler, std::vector<Request> requests,
                     std::function<void(std::vector<Outcome<Data>>)> done) {
  if (requests.empty()) {
    done({});
  } else {
    submit_all(scheduler, std::move(requests), std::move(done));
  }
}

std::vector<Outcome<Data>> query_all(Scheduler& scheduler, std::vector<Request> requests,
                                     const std::stop_token& stop) {
  if (requests.empty()) return {};
  const auto waiter = std::make_shared<BatchWaiter>();
  const auto ids = submit_all(scheduler, std::move(requests), [waiter](Outcomes outcomes) {
    const std::lock_guard lock(waiter->mutex);
    waiter->outcomes = std::move(outcomes);
    waiter->all_there.notify_one();
  });
  const std::stop_callback cancel_all(stop, [&] {
    for (const RequestId id : ids) scheduler.cancel(id);
  });
  std::unique_lock lock(waiter->mutex);
  waiter->all_there.wait(lock, [&] { return waiter->outcomes.has_value(); });
  return *std::move(waiter->outcomes);
}

std::vector<Outcome<NodeInfo>> read_node_infos(Scheduler& scheduler,
                                               const std::vector<Route>& nodes,
                                               const QueryOptions& options) {
  return query_attribute<NodeInfo>(scheduler, addresses_of(nodes), Attribute::node_info,
                                   parse_node_info, options);
}

std::vector<Outcome<PortInfo>> read_port_infos(Scheduler& scheduler,
                                               const std::vector<PortAddress>& ports,
                                               const QueryOptions& options) {
  return query_attribute<PortInfo>(scheduler, ports, Attribute::port_info, parse_port_info,
                                   options);
}

std::vector<Outcome<SmInfo>> read_sm_infos(Scheduler& scheduler, const std::vector<Route>& ports,
                                           const QueryOptions& options) {
  return query_attribute<SmInfo>(scheduler, addresses_of(ports), Attribute::sm_info, parse_sm_info,
                                 options);
}

}  // namespace ibpod::mad
