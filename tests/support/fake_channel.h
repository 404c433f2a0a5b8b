// Channels to a modelled subnet. The weather between decides which packets get through, when, how
// often and how well.
#pragma once

#include "lib/mad/channel.h"
#include "tests/support/fake_subnet.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace ibpod {

// Probabilities from 0 to 1; 0 by default. The same seed gives the same faults.
struct FaultProfile {
  double question_lost = 0;
  double answer_lost = 0;
  double duplicated = 0;      // an answer comes once more
  double corrupt = 0;         // one byte of an answer's header is another
  double mangled = 0;         // one byte of what it says is
  bool reports_loss = false;  // of a question without an answer the channel says so, as some do
  Duration least{0};  // An answer takes a time between these two: unequal ones come in another
  Duration most{0};   // order than the questions went.
  unsigned seed = 1;
};

// The answers to a request, each with the time that it takes. No thread, no clock.
class FakeWire {
 public:
  struct DelayedArrival {
    Duration after{};
    mad::Arrival arrival;
  };
  FakeWire(FakeSubnet& subnet, const FaultProfile& faults)
      : subnet_(subnet), faults_(faults), random_(faults.seed) {}
  std::vector<DelayedArrival> ask(const mad::Mad& question, const mad::Route& route);
  FaultProfile& faults() { return faults_; }

 private:
  bool happens(double share);
  Duration delay();
  void damage(mad::Mad& mad, size_t first, size_t last);
  mad::Mad damaged(mad::Mad mad);
  FakeSubnet& subnet_;
  FaultProfile faults_;
  std::mt19937 random_;
};

// The same in real time. The subnet may be looked at while nothing is asked, or between().
class FakeChannel : public mad::Channel {
 public:
  FakeChannel(FakeSubnet& subnet, const FaultProfile& faults) : wire_(subnet, faults) {}
  ~FakeChannel() override;
  FakeChannel(const FakeChannel&) = delete;
  FakeChannel& operator=(const FakeChannel&) = delete;

  void receive(Receiver receiver) override;
  Status send(const mad::Mad& mad, const mad::Route& route, Duration wanted) override;
  // From now on nothing can be sent.
  void break_off();
  // Looks at the subnet, or changes it, between two packets.
  template <typename Body>
  auto between(const Body& body) {
    const std::lock_guard lock(mutex_);
    return body();
  }
  // To be called in there.
  FaultProfile& faults() { return wire_.faults(); }

 private:
  void run(const std::stop_token& stop);
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool broken_ = false;
  FakeWire wire_;
  std::multimap<Deadline::Clock::time_point, mad::Arrival> arrivals_;
  Receiver receiver_;
  std::jthread thread_;
};

}  // namespace ibpod
