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
#include "tests/fabric/storm/load.h"
#include "tests/fabric/storm/opensm_alone.h"
#include "tests/fabric/storm/ports.h"

#include <cstdio>

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

double sweeps(const SmProcess& sm) {
  return sm.metric("ibpod_sm_subnet_manager_events_total{event=\"sweep\"}");
}

// Returns the time that each Bind took.
Times run_under_load(const Storm& storm, SmProcess& sm, Ports& ports) {
  const double swept = sweeps(sm);
  const Load load = run_pods(storm, sm, ports);
  const double swept_meanwhile = sweeps(sm) - swept;
  const double one = load.ms / swept_meanwhile;
  load.print();
  std::printf("storm: one sweep in %.0f ms, the pause before it among them\n", one);
  print_ratio("storm: p99 of Bind to verified, in sweeps of the storm", p99(load.bind) / one, 3);
  load.check(storm);
  CHECK(swept_meanwhile > 0);
  return load.bind;
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
