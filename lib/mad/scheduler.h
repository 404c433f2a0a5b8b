// Scheduler: puts requests to nodes over a channel, as its Schedule says (schedule.h), on a thread
// of its own that sleeps until something is asked, arrives or is due.
#pragma once

#include "lib/mad/channel.h"
#include "lib/mad/schedule.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <vector>

namespace ibpod::mad {

inline constexpr size_t kDefaultWindow = 16;

// Any thread may call it. There should be one for each port: two windows do not know of each other.
class Scheduler {
 public:
  // Runs once, on the scheduler's thread, which waits for it: short, and no query that
  // waits for answers itself. It may submit and cancel.
  using Done = std::function<void(const Outcome<Data>&)>;

  explicit Scheduler(std::unique_ptr<Channel> channel, size_t window = kDefaultWindow);
  // Requests that have not ended end as cancelled, in here, and so does what a Done submits then:
  // one that always submits again would never let it return.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Nothing bounds how many wait; the caller knows how many it has asked for.
  RequestId submit(Request request, Done done);
  // A request that has not ended ends as cancelled. Its packet may be on the wire all the same.
  void cancel(RequestId id);
  Counts counts() const;

 private:
  using OutgoingPackets = std::vector<Schedule::OutgoingPacket>;
  void arrived(const Arrival& arrival);
  void run(const std::stop_token& stop);
  bool step();
  void sleep(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  void send(const OutgoingPackets& sendings);
  void finish(const std::vector<Schedule::CompletedRequest>& ended);
  void finish_all();

  std::unique_ptr<Channel> channel_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable_any changed_;
  bool has_work_ = false;  // something was asked, cancelled, or has arrived
  Schedule schedule_;
  std::unordered_map<RequestId, Done> done_;
  std::jthread thread_;
};

}  // namespace ibpod::mad
