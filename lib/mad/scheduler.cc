#include "lib/mad/scheduler.h"

#include <random>
#include <utility>

namespace ibpod::mad {
namespace {

using Clock = Deadline::Clock;

std::function<uint32_t()> unguessable() {
  const auto random = std::make_shared<std::random_device>();
  return [random] { return uint32_t{(*random)()}; };
}

}  // namespace

Scheduler::Scheduler(std::unique_ptr<Channel> channel, size_t window)
    : channel_(std::move(channel)), schedule_(window, unguessable()) {
  channel_->receive([this](const Arrival& arrival) { arrived(arrival); });
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Scheduler::~Scheduler() {
  thread_.request_stop();
  thread_.join();
  channel_.reset();
}

RequestId Scheduler::submit(Request request, Done done) {
  const std::lock_guard lock(mutex_);
  const RequestId id = schedule_.add(std::move(request));
  done_.emplace(id, std::move(done));
  has_work_ = true;
  changed_.notify_one();
  return id;
}

void Scheduler::cancel(RequestId id) {
  const std::lock_guard lock(mutex_);
  schedule_.cancel(id);
  has_work_ = true;
  changed_.notify_one();
}

Counts Scheduler::counts() const {
  const std::lock_guard lock(mutex_);
  return schedule_.counts();
}

void Scheduler::arrived(const Arrival& arrival) {
  const std::lock_guard lock(mutex_);
  schedule_.arrived(arrival, Clock::now());
  has_work_ = true;
  changed_.notify_one();
}

void Scheduler::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (step()) continue;
    std::unique_lock lock(mutex_);
    sleep(lock, stop);
  }
  finish_all();
}

// False: there was nothing to do. Neither the channel nor the callback of a request is called with
// the mutex held: the channel may block, and its receiver takes the mutex; the callback may submit.
bool Scheduler::step() {
  OutgoingPackets sendings;
  std::vector<Schedule::CompletedRequest> ended;
  {
    const std::lock_guard lock(mutex_);
    has_work_ = false;
    const auto now = Clock::now();
    schedule_.pass(now);
    while (auto packet = schedule_.next(now)) sendings.push_back(std::move(*packet));
    ended = schedule_.take_ended();
  }
  send(sendings);
  finish(ended);
  return !sendings.empty() || !ended.empty();
}

void Scheduler::sleep(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  const auto woken = [this] { return has_work_; };
  if (const auto due = schedule_.due()) {
    changed_.wait_until(lock, stop, *due, woken);
  } else {
    changed_.wait(lock, stop, woken);
  }
}

void Scheduler::send(const OutgoingPackets& sendings) {
  for (const Schedule::OutgoingPacket& packet : sendings) {
    if (channel_->send(packet.mad, packet.route, packet.wanted)) continue;
    const std::lock_guard lock(mutex_);
    schedule_.not_sent(packet.transaction);
  }
}

void Scheduler::finish(const std::vector<Schedule::CompletedRequest>& ended) {
  for (const auto& [id, outcome] : ended) {
    std::unique_lock lock(mutex_);
    const auto done = done_.extract(id);
    lock.unlock();
    done.mapped()(outcome);
  }
}

// Also ends the requests that the callbacks submit meanwhile.
void Scheduler::finish_all() {
  while (true) {
    std::unique_lock lock(mutex_);
    const auto left = std::exchange(done_, {});
    lock.unlock();
    if (left.empty()) return;
    for (const auto& [id, done] : left) done(Failure{Reason::cancelled, 0});
  }
}

}  // namespace ibpod::mad
