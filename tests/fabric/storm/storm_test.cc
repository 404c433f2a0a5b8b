// How long a key takes from the asking to the port's table: by OpenSM alone, by ibpod-sm, and under
// a storm. Times are printed and not judged; what is judged is that nothing is lost, and that what
// is acknowledged is so in every reading.
#include "lib/mad/pkey_tables.h"
#include "sm/survey/survey.h"
#include "tests/fabric/inside.h"
#include "tests/fabric/large_network.h"
#include "tests/fabric/sm/sm_process.h"
#include "tests/fabric/watching.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int kRounds = 20;
constexpr int kPerSecond = 50;

int storm_seconds() {
  const char* const given = std::getenv("STORM_SECONDS");
  return given == nullptr ? 60 : std::atoi(given);
}

double ms_since(Clock::time_point begun) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

// min / median / p99 / max
void print(const char* what, std::vector<double> ms) {
  if (ms.empty()) return void(std::printf("%s: none\n", what));
  std::sort(ms.begin(), ms.end());
  std::printf("%-34s min %7.1f  median %7.1f  p99 %7.1f  max %7.1f ms  (%zu)\n", what, ms.front(),
              ms[ms.size() / 2], ms[ms.size() * 99 / 100], ms.back(), ms.size());
  std::fflush(stdout);
}

class Ports {
 public:
  Ports() : scheduler_(new_scheduler()) {
    survey_ = std::make_unique<fabric::Topology>(
        sm::survey(*scheduler_, {.terms = {.deadline = Deadline::in(60s)}}));
  }
  ib::PKeyTable table(unsigned host) { return tables({host}).front(); }
  std::vector<ib::PKeyTable> tables(const std::vector<unsigned>& hosts) {
    std::vector<mad::TablePlace> places;
    for (const unsigned host : hosts) {
      const fabric::SeenPort* const port = survey_->find(port_guid(host));
      REQUIRE(port != nullptr);
      places.push_back({{port->route()}, port->places});
    }
    std::vector<ib::PKeyTable> tables;
    for (const auto& read :
         mad::read_tables(*scheduler_, places, {.terms = {.deadline = Deadline::in(60s)}}))
      tables.push_back(mad::value_of(read) == nullptr ? ib::PKeyTable() : *mad::value_of(read));
    return tables;
  }
  bool has(unsigned host, ib::PKey key) { return ib::find_in(table(host), key).has_value(); }

 private:
  std::unique_ptr<mad::Scheduler> scheduler_;
  std::unique_ptr<fabric::Topology> survey_;
};

void write_partitions(const std::string& more) {
  std::ofstream("partitions.new") << "Default=0x7fff, ipoib : ALL=limited, SELF=full;\n" << more;
  std::rename("partitions.new", "partitions.conf");
}

std::string member(unsigned host) {
  char text[64];
  std::snprintf(text, sizeof text, "0x%016llx=full",
                static_cast<unsigned long long>(port_guid(host).value()));
  return text;
}

// A HUP, and the key is there.
std::vector<double> by_opensm(Ports& ports) {
  std::vector<double> ms;
  for (int round = 0; round < kRounds; ++round) {
    const bool there = round % 2 == 0;
    const auto begun = Clock::now();
    write_partitions(there ? "blue=0x0001 : " + member(100) + ";\n" : "");
    hang_up_manager();
    while (ports.has(100, ib::PKey(0x8001)) != there) continue;
    ms.push_back(ms_since(begun));
  }
  return ms;
}

// A HUP for each change, as a driver does that knows no better: when each change is there.
void naive_storm(Ports& ports, int seconds) {
  std::vector<Clock::time_point> asked;
  std::vector<double> ms;
  size_t seen = 0;
  std::string members;
  const auto begun = Clock::now();
  const auto look = [&] {
    while (seen < asked.size() && ports.has(200 + static_cast<unsigned>(seen), ib::PKey(0x8002)))
      ms.push_back(ms_since(asked[seen++]));
  };
  for (int n = 0; n < seconds * kPerSecond; ++n) {
    while (Clock::now() < begun + n * 1000ms / kPerSecond) look();
    members += (members.empty() ? "" : ",\n ") + member(200 + static_cast<unsigned>(n));
    asked.push_back(Clock::now());
    write_partitions("red=0x0002 : " + members + ";\n");
    hang_up_manager();
  }
  const size_t during = seen;
  while (seen < asked.size()) look();
  std::printf("a HUP for each change: %zu of %zu there while it went on\n", during, asked.size());
  print("a HUP for each change", ms);
}

fabricapi::BindRequest request(unsigned host, const std::string& partition) {
  fabricapi::BindRequest request;
  request.attachment = {node_of(host), "c" + std::to_string(host), "net1"};
  request.guid = port_guid(host);
  request.pf = "ib0";
  request.device = "0000:01:00.1";
  request.pod = {"team", "pod-" + std::to_string(host), "uid"};
  request.partitions = {{partition, {}}};
  return request;
}

std::vector<double> by_ibpod(SmProcess& sm, bool release) {
  std::vector<double> ms;
  for (int round = 0; round < kRounds / 2; ++round) {
    auto begun = Clock::now();
    const auto bound = sm.client().bind(request(100, "blue"), Deadline::in(30s));
    if (!bound) FAIL(bound.error().text());
    CHECK(bound->state == fabric::State::verified);
    if (!release) ms.push_back(ms_since(begun));
    begun = Clock::now();
    const auto unbound = sm.client().unbind(request(100, "blue").attachment, Deadline::in(30s));
    if (!unbound) FAIL(unbound.error().text());
    CHECK(unbound->state == fabric::State::released);
    if (release) ms.push_back(ms_since(begun));
  }
  return ms;
}

// What has been acknowledged of each host: every reading that began later has to show it.
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
  size_t judged = 0, wrong = 0;
};

Readings read_on(Ports& ports, Acknowledged& acknowledged, const std::stop_token& stop) {
  Readings sum;
  while (!stop.stop_requested()) {
    const Acknowledged::Claims claims = acknowledged.some(64);
    std::vector<unsigned> hosts;
    for (const auto& [host, number] : claims) hosts.push_back(host);
    const std::vector<ib::PKeyTable> tables = ports.tables(hosts);
    for (size_t n = 0; n < claims.size(); ++n) {
      const std::optional<bool> there = acknowledged.of(claims[n]);
      if (!there) continue;
      ++sum.judged;
      if (ib::find_in(tables[n], ib::PKey(0x0002)).has_value() != *there) ++sum.wrong;
    }
  }
  return sum;
}

// Pods that come, 50 a second, live for 20 s, and go.
class Pods {
 public:
  Pods(SmProcess& sm, Acknowledged& acknowledged) : sm_(sm), acknowledged_(acknowledged) {}

  void come(unsigned host) {
    const auto asked = Clock::now();
    acknowledged_.withdraw(host);
    const auto bound = sm_.client().bind(request(host, "red"), Deadline::in(60s));
    const bool there = bound && bound->state == fabric::State::verified;
    if (there) acknowledged_.claim(host, true);
    note(there, bind_ms_, asked);
  }
  void go(unsigned host) {
    const auto asked = Clock::now();
    acknowledged_.withdraw(host);
    const auto unbound = sm_.client().unbind(request(host, "red").attachment, Deadline::in(60s));
    const bool gone = unbound && unbound->state == fabric::State::released;
    if (gone) acknowledged_.claim(host, false);
    note(gone, unbind_ms_, asked);
  }
  size_t lost() const { return lost_; }
  void print_times() const {
    print("storm: Bind to verified", bind_ms_);
    print("storm: Unbind to released", unbind_ms_);
  }

 private:
  void note(bool done, std::vector<double>& ms, Clock::time_point asked) {
    const std::lock_guard lock(mutex_);
    if (done)
      ms.push_back(ms_since(asked));
    else
      ++lost_;
  }
  SmProcess& sm_;
  Acknowledged& acknowledged_;
  std::mutex mutex_;
  std::vector<double> bind_ms_, unbind_ms_;
  size_t lost_ = 0;
};

void storm(SmProcess& sm, Ports& ports) {
  constexpr int kLife = 20 * kPerSecond;
  Acknowledged acknowledged;
  Pods pods(sm, acknowledged);
  std::stop_source stop;
  auto reading = std::async(std::launch::async,
                            [&] { return read_on(ports, acknowledged, stop.get_token()); });
  std::vector<std::future<void>> underway;
  const auto begun = Clock::now();
  const auto host_of = [](int n) { return 100 + static_cast<unsigned>(n) % (kHosts - 200); };
  for (int n = 0; n < storm_seconds() * kPerSecond; ++n) {
    std::this_thread::sleep_until(begun + n * 1000ms / kPerSecond);
    underway.push_back(std::async(std::launch::async, [&, n] { pods.come(host_of(n)); }));
    if (n < kLife) continue;
    underway.push_back(std::async(std::launch::async, [&, n] { pods.go(host_of(n - kLife)); }));
  }
  for (auto& one : underway) one.wait();
  stop.request_stop();
  const Readings sum = reading.get();
  pods.print_times();
  std::printf("lost %zu; readings judged %zu, wrong %zu\n", pods.lost(), sum.judged, sum.wrong);
  CHECK(pods.lost() == 0);
  CHECK(sum.wrong == 0);
  CHECK(sum.judged > 0);
}

TEST_CASE("from the asking to the port, by OpenSM alone and by ibpod-sm") {
  Ports ports;
  print("OpenSM: HUP to visible", by_opensm(ports));
  naive_storm(ports, std::min(storm_seconds(), 10));
  kill_manager();

  SmProcess sm({.hosts = kHosts - 1, .scan_seconds = 60, .more = R"("logLevel": "warning")"});
  sm.start();
  for (const char* name : {"blue", "red"}) {
    fabric::Tenancy tenancy;
    tenancy.name = name;
    tenancy.membership = fabric::Membership::full;
    tenancy.allowed = {"*"};
    REQUIRE(sm.client().create_partition(tenancy, Deadline::in(30s)));
  }
  print("ibpod-sm: Bind to verified", by_ibpod(sm, false));
  print("ibpod-sm: Unbind to released", by_ibpod(sm, true));
  storm(sm, ports);
}

}  // namespace
}  // namespace ibpod
