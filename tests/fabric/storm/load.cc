#include "tests/fabric/storm/load.h"

#include <algorithm>
#include <cstdio>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <semaphore>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using namespace std::chrono_literals;

// The acknowledged state of each host: every reading that began later has to show it.
class Acknowledged {
 public:
  using Claims = std::vector<std::pair<unsigned, uint64_t>>;  // host, and which claim

  void claim(unsigned host, bool there) {
    const std::lock_guard lock(mutex_);
    claims_[host] = {there, ++number_};
  }
  // It is about to change.
  void withdraw(unsigned host) {
    const std::lock_guard lock(mutex_);
    claims_.erase(host);
  }
  Claims some(size_t most) {
    const std::lock_guard lock(mutex_);
    Claims some;
    for (auto next = claims_.upper_bound(last_); some.size() < std::min(most, claims_.size());
         ++next) {
      if (next == claims_.end()) next = claims_.begin();
      some.emplace_back(next->first, next->second.second);
    }
    if (!some.empty()) last_ = some.back().first;
    return some;
  }
  // Nothing: it has changed meanwhile.
  std::optional<bool> of(const std::pair<unsigned, uint64_t>& claim) {
    const std::lock_guard lock(mutex_);
    const auto found = claims_.find(claim.first);
    if (found == claims_.end() || found->second.second != claim.second) return std::nullopt;
    return found->second.first;
  }

 private:
  std::mutex mutex_;
  std::map<unsigned, std::pair<bool, uint64_t>> claims_;
  uint64_t number_ = 0;
  unsigned last_ = 0;
};

Load::Readings read_on(Ports& ports, Acknowledged& acknowledged, const std::stop_token& stop) {
  Load::Readings sum;
  while (!stop.stop_requested()) {
    const Acknowledged::Claims claims = acknowledged.some(64);
    std::vector<unsigned> hosts;
    for (const auto& [host, number] : claims) hosts.push_back(host);
    const auto tables = ports.tables(hosts);
    for (size_t n = 0; n < claims.size(); ++n) {
      const std::optional<bool> there = acknowledged.of(claims[n]);
      if (!there) continue;
      ++(tables[n] ? sum.judged : sum.unread);
      if (tables[n] && ib::find_in(*tables[n], ib::PKey(0x0002)).has_value() != *there) ++sum.wrong;
    }
  }
  return sum;
}

class Pods {
 public:
  Pods(const SmProcess& sm, Acknowledged& acknowledged)
      : client_(sm.client()), acknowledged_(acknowledged) {}

  void come(unsigned host) {
    const auto asked = Clock::now();
    const Turn turn(calls_);
    acknowledged_.withdraw(host);
    const auto bound = client_.bind(SmProcess::request(host, "red"), Deadline::in(60s));
    const bool there = bound && bound->state == fabric::BindingState::verified;
    if (there) acknowledged_.claim(host, true);
    const std::lock_guard lock(mutex_);
    if (there) load_.binds.push_back({host, asked, Clock::now()});
    note(there, load_.bind, asked, bound);
  }
  void go(unsigned host) {
    const auto asked = Clock::now();
    const Turn turn(calls_);
    acknowledged_.withdraw(host);
    const auto unbound =
        client_.unbind(SmProcess::request(host, "red").attachment, Deadline::in(60s));
    const bool gone = unbound && unbound->state == fabric::BindingState::released;
    if (gone) acknowledged_.claim(host, false);
    const std::lock_guard lock(mutex_);
    note(gone, load_.unbind, asked, unbound);
  }
  // After all calls.
  Load load() const { return load_; }

 private:
  using Calls = std::counting_semaphore<kMostCalls>;
  class Turn {
   public:
    explicit Turn(Calls& calls) : calls_(calls) { calls_.acquire(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { calls_.release(); }

   private:
    Calls& calls_;
  };
  void note(bool done, Times& ms, Clock::time_point asked, const Result<fabric::Binding>& end) {
    if (done) {
      ms.push_back(ms_since(asked));
      return;
    }
    if (load_.lost++ == 0)
      load_.first_lost =
          end ? std::string(name(end->state)) + ": " + end->condition.text : end.error().text();
  }
  fabricapi::Client client_;
  Acknowledged& acknowledged_;
  Calls calls_{kMostCalls};
  std::mutex mutex_;
  Load load_;
};

}  // namespace

Load run_pods(const Storm& storm, SmProcess& sm, Ports& ports) {
  Acknowledged acknowledged;
  Pods pods(sm, acknowledged);
  std::stop_source stop;
  auto reading = std::async(std::launch::async,
                            [&] { return read_on(ports, acknowledged, stop.get_token()); });
  // The last call for each host: one pod there goes before the next one comes.
  std::map<unsigned, std::shared_future<void>> last;
  const auto begun = Clock::now();
  for (int pod = 0; pod < storm.pods(); ++pod) {
    std::this_thread::sleep_until(storm.time_of(pod, begun));
    const auto start = [&](auto what, unsigned host) {
      const auto act = [&pods, what, host, before = last[host]] {
        if (before.valid()) before.wait();
        (pods.*what)(host);
      };
      last[host] = std::async(std::launch::async, act).share();
    };
    start(&Pods::come, storm.host_of(pod));
    if (pod >= storm.life()) start(&Pods::go, storm.host_of(pod - storm.life()));
  }
  for (const auto& [host, done] : last) done.wait();
  const double ms = ms_since(begun);
  stop.request_stop();
  Load load = pods.load();
  load.readings = reading.get();
  load.ms = ms;
  return load;
}

void Load::print() const {
  ibpod::print("storm: Bind to verified", bind);
  ibpod::print("storm: Unbind to released", unbind);
  std::printf("lost %zu; readings judged %zu, wrong %zu, unread %zu\n", lost, readings.judged,
              readings.wrong, readings.unread);
  if (lost > 0) std::printf("the first that is lost: %s\n", first_lost.c_str());
  std::fflush(stdout);
}

void Load::check(const Storm& storm) const {
  CHECK(bind.size() == static_cast<size_t>(storm.pods()));
  CHECK(unbind.size() == static_cast<size_t>(std::max(0, storm.pods() - storm.life())));
  CHECK(lost == 0);
  CHECK(readings.wrong == 0);
  CHECK(readings.judged > 0);
}

}  // namespace ibpod
