// How long a key takes from the asking to the port's table: by OpenSM alone, by ibpod-sm, and under
// a storm. Times are printed beside their goals and not asserted. Asserted is: each Bind ends as
// verified and each Unbind as released, as many as were begun; no reading of a port's table
// contradicts what was acknowledged before it; and OpenSM has swept.
//   STORM_LEAVES=N   of the subnet, with 32 hosts each (64)
//   STORM_SECONDS=N  how long it goes on (60)
//   STORM_RATE=N     Binds a second (50)
//   ROUNDS=N         of each measurement before it (20)
#include "tests/fabric/inside.h"
#include "tests/fabric/large_network.h"
#include "tests/fabric/sm/sm_process.h"
#include "tests/fabric/storm/opensm_alone.h"
#include "tests/fabric/storm/ports.h"

#include <cstdio>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using namespace std::chrono_literals;

// The sweep that brought the last change has ended, as it has before each SIGHUP to OpenSM alone.
void until_idle(SmProcess& sm) {
  const auto version = [&](const std::string& which) {
    return sm.metric("ibpod_sm_version{version=\"" + which + "\"}");
  };
  sm.until([&] { return version("swept") == version("wanted"); });
}

struct Change {
  Times bind, unbind;
};

// While nothing else goes on.
Change by_ibpod(SmProcess& sm, int rounds) {
  Change ms;
  for (int round = 0; round < rounds; ++round) {
    until_idle(sm);
    auto begun = Clock::now();
    const auto bound = sm.client().bind(SmProcess::request(100, "blue"), Deadline::in(30s));
    if (!bound) FAIL(bound.error().text());
    CHECK(bound->state == fabric::BindingState::verified);
    ms.bind.push_back(ms_since(begun));
    until_idle(sm);
    begun = Clock::now();
    const auto unbound =
        sm.client().unbind(SmProcess::request(100, "blue").attachment, Deadline::in(30s));
    if (!unbound) FAIL(unbound.error().text());
    CHECK(unbound->state == fabric::BindingState::released);
    ms.unbind.push_back(ms_since(begun));
  }
  return ms;
}

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

struct Readings {
  size_t judged = 0, wrong = 0, unread = 0;
};

Readings read_on(Ports& ports, Acknowledged& acknowledged, const std::stop_token& stop) {
  Readings sum;
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
    acknowledged_.withdraw(host);
    const auto bound = client_.bind(SmProcess::request(host, "red"), Deadline::in(60s));
    const bool there = bound && bound->state == fabric::BindingState::verified;
    if (there) acknowledged_.claim(host, true);
    note(there, bind_ms_, asked);
  }
  void go(unsigned host) {
    const auto asked = Clock::now();
    acknowledged_.withdraw(host);
    const auto unbound =
        client_.unbind(SmProcess::request(host, "red").attachment, Deadline::in(60s));
    const bool gone = unbound && unbound->state == fabric::BindingState::released;
    if (gone) acknowledged_.claim(host, false);
    note(gone, unbind_ms_, asked);
  }
  size_t lost() const { return lost_; }
  size_t released() const { return unbind_ms_.size(); }
  const Times& print_times() const {
    print("storm: Bind to verified", bind_ms_);
    print("storm: Unbind to released", unbind_ms_);
    return bind_ms_;
  }

 private:
  void note(bool done, Times& ms, Clock::time_point asked) {
    const std::lock_guard lock(mutex_);
    if (done)
      ms.push_back(ms_since(asked));
    else
      ++lost_;
  }
  fabricapi::Client client_;
  Acknowledged& acknowledged_;
  std::mutex mutex_;
  Times bind_ms_, unbind_ms_;
  size_t lost_ = 0;
};

double sweeps(const SmProcess& sm) {
  return sm.metric("ibpod_sm_subnet_manager_events_total{event=\"sweep\"}");
}

// Returns the time that each Bind took.
Times run_under_load(const Storm& storm, SmProcess& sm, Ports& ports) {
  Acknowledged acknowledged;
  Pods pods(sm, acknowledged);
  std::stop_source stop;
  auto reading = std::async(std::launch::async,
                            [&] { return read_on(ports, acknowledged, stop.get_token()); });
  // The last call for each host: one pod there goes before the next one comes.
  std::map<unsigned, std::shared_future<void>> last;
  const double swept = sweeps(sm);
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
  const double swept_meanwhile = sweeps(sm) - swept;
  const double one = ms_since(begun) / swept_meanwhile;
  stop.request_stop();
  const Readings sum = reading.get();
  Times bind = pods.print_times();
  std::printf("lost %zu; readings judged %zu, wrong %zu, unread %zu\n", pods.lost(), sum.judged,
              sum.wrong, sum.unread);
  std::printf("storm: one sweep in %.0f ms, the pause before it among them\n", one);
  print_ratio("storm: p99 of Bind to verified, in sweeps of the storm", p99(bind) / one, 3);
  CHECK(bind.size() == static_cast<size_t>(storm.pods()));
  CHECK(pods.released() == static_cast<size_t>(std::max(0, storm.pods() - storm.life())));
  CHECK(swept_meanwhile > 0);
  CHECK(pods.lost() == 0);
  CHECK(sum.wrong == 0);
  CHECK(sum.judged > 0);
  return bind;
}

void create_partitions(const SmProcess& sm) {
  for (const char* name : {"blue", "red"})
    REQUIRE(sm.client().create_partition(SmProcess::sample_partition(name), Deadline::in(30s)));
}

TEST_CASE("from the asking to the port, by OpenSM alone and by ibpod-sm") {
  kill_manager();  // it has other options than ours
  const Storm storm;
  const int rounds = setting("ROUNDS", 20);
  Times sweep, visible;
  Ports ports;
  {
    OpenSmAlone opensm(ports);
    print("OpenSM: one sweep", sweep = opensm.sweep(rounds));
    print("OpenSM: HUP to visible", visible = opensm.until_visible(rounds));
    opensm.run(storm);
  }
  const auto nodes = static_cast<unsigned>(storm.leaves * kHostsOfLeaf - 1);
  SmProcess sm({.hosts = nodes, .scan_seconds = 60, .more = R"("logLevel": "warning")"});
  sm.start();
  create_partitions(sm);
  const Change change = by_ibpod(sm, rounds);
  print("ibpod-sm: Bind to verified", change.bind);
  print("ibpod-sm: Unbind to released", change.unbind);
  const Times in_storm = run_under_load(storm, sm, ports);
  print_ratio("Bind to verified, in HUPs to visible (medians)",
              median(change.bind) / median(visible), 1.3);
  print_ratio("storm: p99 of Bind to verified, in sweeps before it", p99(in_storm) / median(sweep),
              3);
}

}  // namespace
}  // namespace ibpod
