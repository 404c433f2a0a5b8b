#include "tests/support/fake_channel.h"

namespace ibpod {

using Clock = Deadline::Clock;

bool FakeWire::happens(double share) { return std::bernoulli_distribution(share)(random_); }

Duration FakeWire::delay() {
  const auto [least, most] = std::pair(faults_.least.count(), faults_.most.count());
  return Duration(
      std::uniform_int_distribution<Duration::rep>(least, std::max(least, most))(random_));
}

void FakeWire::damage(mad::Mad& mad, size_t first, size_t last) {
  const size_t at = std::uniform_int_distribution<size_t>(first, last)(random_);
  const int bits = std::uniform_int_distribution<int>(1, 0xff)(random_);
  mad.at(at) ^= static_cast<std::byte>(bits);
}

mad::Mad FakeWire::damaged(mad::Mad mad) {
  if (happens(faults_.corrupt)) damage(mad, 0, 31);
  if (happens(faults_.mangled)) damage(mad, 64, 127);
  return mad;
}

std::vector<FakeWire::DelayedArrival> FakeWire::ask(const mad::Mad& question,
                                                    const mad::Route& route) {
  const bool reached = !happens(faults_.question_lost);
  const auto answer = reached ? subnet_.answer(question, route) : std::nullopt;
  std::vector<DelayedArrival> coming;
  if (!answer || happens(faults_.answer_lost)) {
    if (faults_.reports_loss) coming.push_back({delay(), {.mad = question, .answered = false}});
    return coming;
  }
  const int times = happens(faults_.duplicated) ? 2 : 1;
  for (int i = 0; i < times; ++i) {
    mad::Arrival arrival{.mad = damaged(*answer)};
    if (!route.directed()) arrival.source = route.lid();
    coming.push_back({delay(), arrival});
  }
  return coming;
}

FakeChannel::~FakeChannel() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void FakeChannel::receive(Receiver receiver) {
  receiver_ = std::move(receiver);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void FakeChannel::break_off() {
  const std::lock_guard lock(mutex_);
  broken_ = true;
}

Status FakeChannel::send(const mad::Mad& mad, const mad::Route& route, Duration /*wanted*/) {
  const std::lock_guard lock(mutex_);
  if (broken_) return Error(Code::unavailable, "the device is gone");
  for (const auto& [after, arrival] : wire_.ask(mad, route))
    arrivals_.emplace(Clock::now() + after, arrival);
  changed_.notify_one();
  return ok();
}

void FakeChannel::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (arrivals_.empty()) {
      changed_.wait(lock, stop, [this] { return !arrivals_.empty(); });
      continue;
    }
    const auto when = arrivals_.begin()->first;
    if (when > Clock::now()) {
      changed_.wait_until(lock, stop, when, [&] { return arrivals_.begin()->first < when; });
      continue;
    }
    const mad::Arrival arrival = arrivals_.extract(arrivals_.begin()).mapped();
    lock.unlock();
    receiver_(arrival);
    lock.lock();
  }
}

}  // namespace ibpod
