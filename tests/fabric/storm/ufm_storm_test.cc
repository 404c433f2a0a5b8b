// ibpod-sm with a UFM on 2,048 hosts: how long a Bind takes until UFM has accepted it, and until it
// is in force at the port; and the calls that UFM gets, under a storm and while nothing else goes
// on. fake_ufm writes the partitions.conf of a real OpenSM. Times are printed and not asserted.
// Asserted is: each Bind ends as verified and each Unbind as released, as many as were begun; no
// reading of a port's table contradicts what was acknowledged before it; UFM gets few calls, and
// none outside of our range.
//   STORM_LEAVES=N, STORM_SECONDS=N, STORM_RATE=N, ROUNDS=N: as in storm_test.cc
//   UFM_ANSWERS=MS   the time in which fake_ufm answers a change (200)
//   UFM_EFFECT=MS    the time from a change to OpenSM's file, with all changes until then (three
//                    of its sweeps): OpenSM begins its discovery again with each SIGHUP, so more
//                    of them than its sweeps need would keep it from any table
//   UFM_PEER=PATH    another client of UFM: pods come to it and to ibpod-sm at the same times, in
//                    turn. It finds UFM by UfmProcess::environment_of(), and reads the pods' GUIDs,
//                    one a line, which it has to put into P_Key 0x3000. It prints "ready" before.
#include "tests/fabric/engine/raw_opensm.h"
#include "tests/fabric/inside.h"
#include "tests/fabric/sm/sm_process.h"
#include "tests/fabric/storm/load.h"
#include "tests/fabric/storm/peer.h"
#include "tests/fabric/ufm/process/ufm_process.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using namespace std::chrono_literals;

// In ms, of three sweeps.
int longest_sweep(RawOpenSm& opensm) {
  double ms = 0;
  for (int sweep = 0; sweep < 3; ++sweep) {
    const auto begun = Clock::now();
    REQUIRE(::kill(opensm.pid(), SIGHUP) == 0);
    REQUIRE(opensm.finish_sweep());
    ms = std::max(ms, ms_since(begun));
  }
  return static_cast<int>(ms);
}

std::vector<ib::Guid> port_guids(const Storm& storm) {
  std::vector<ib::Guid> guids;
  for (unsigned host = 0; host < static_cast<unsigned>(storm.leaves * kHostsOfLeaf); ++host)
    guids.push_back(port_guid(host));
  return guids;
}

struct Fixture {
  explicit Fixture(const Storm& storm)
      : effect(setting("UFM_EFFECT", 3 * longest_sweep(opensm))),
        ufm({.partitions = opensm.partitions(),
             .opensm = opensm.pid(),
             .ports = port_guids(storm),
             .others = {Peer::kUser}}),
        // effectSeconds: above the time to the file and a sweep.
        sm({.hosts = static_cast<unsigned>(storm.leaves * kHostsOfLeaf - 1),
            .scan_seconds = 60,
            .more = R"("logLevel": "warning")",
            .ufm = ufm.section(60, 2 + 2 * effect / 1000)}) {
    if (answers > 0)
      ufm.post("faults", R"({"kind": "slow", "operations": ["post", "remove_guids"], "times": 0, )"
                         R"("delay_ms": )" +
                             std::to_string(answers) + "}");
    ufm.set("effect", R"({"delay": )" + std::to_string(effect) + "}");
    std::printf("hosts %d; fake_ufm answers changes in %d ms, and writes them after %d ms\n",
                storm.leaves * kHostsOfLeaf, answers, effect);
    sm.start();
    for (const char* name : {"blue", "red"})
      REQUIRE(sm.client().create_partition(SmProcess::sample_partition(name), Deadline::in(30s)));
  }
  const int answers = setting("UFM_ANSWERS", 200);
  RawOpenSm opensm;
  const int effect;
  UfmProcess ufm;
  SmProcess sm;
};

size_t writes(const std::vector<UfmCall>& log, const std::string& caller) {
  return static_cast<size_t>(std::count_if(log.begin(), log.end(), [&](const UfmCall& call) {
    return call.caller == caller && call.is_write();
  }));
}

void print_calls(const std::string& about, const std::vector<UfmCall>& log,
                 const std::string& caller) {
  std::map<std::string, size_t> kinds;
  for (const UfmCall& call : log)
    if (call.caller == caller) ++kinds[call.operation];
  std::printf("%s: calls of %s:", about.c_str(), caller.c_str());
  for (const auto& [kind, count] : kinds) std::printf(" %s %zu", kind.c_str(), count);
  std::printf("\n");
}

// From each Bind to the answer of the first call that added its port.
Times to_accepted(const std::vector<BindTimes>& binds, const std::vector<UfmCall>& log,
                  int answers) {
  std::map<ib::Guid, std::vector<Clock::time_point>> added;
  for (const UfmCall& call : log)
    if (call.caller == kUfmUser && call.operation == "post" && call.status == 200)
      for (const ib::Guid guid : call.guids)
        added[guid].push_back(call.at + std::chrono::milliseconds(answers));
  Times ms;
  for (const BindTimes& bind : binds) {
    const auto& times = added[port_guid(bind.host)];
    const auto first = std::lower_bound(times.begin(), times.end(), bind.asked);
    if (first != times.end())
      ms.push_back(std::chrono::duration<double, std::milli>(*first - bind.asked).count());
  }
  return ms;
}

void check_calls(const std::vector<UfmCall>& log) {
  for (const UfmCall& call : log)
    if (call.caller == kUfmUser && call.is_write()) {
      CHECK(call.pkey.value() >= 0x0001);
      CHECK(call.pkey.value() <= 0x10ff);
      CHECK(call.status == 200);
    }
}

// While nothing else goes on: each on another host.
void bind_one_by_one(Fixture& fixture, int rounds) {
  std::vector<BindTimes> binds;
  Times verified;
  fixture.ufm.clear_log();
  for (int round = 0; round < rounds; ++round) {
    const unsigned host = 10 + static_cast<unsigned>(round);
    const auto asked = Clock::now();
    const auto bound =
        fixture.sm.client().bind(SmProcess::request(host, "blue"), Deadline::in(30s));
    if (!bound) FAIL(bound.error().text());
    CHECK(bound->state == fabric::BindingState::verified);
    binds.push_back({host, asked, Clock::now()});
    verified.push_back(ms_since(asked));
  }
  const auto log = fixture.ufm.log();
  print("one by one: Bind to accepted", to_accepted(binds, log, fixture.answers));
  print("one by one: Bind to verified", verified);
  print_calls("one by one", log, kUfmUser);
  check_calls(log);
}

// A call to UFM takes longer than the time between two pods, so what comes meanwhile goes into the
// next one: the number of calls is limited by their duration, not by the number of pods.
void run_under_load(const Storm& storm, Fixture& fixture, Ports& ports) {
  fixture.ufm.clear_log();
  const Load load = run_pods(storm, fixture.sm, ports);
  const auto log = fixture.ufm.log();
  load.print();
  print("storm: Bind to accepted", to_accepted(load.binds, log, fixture.answers));
  print_calls("storm", log, kUfmUser);
  load.check(storm);
  check_calls(log);
  CHECK(to_accepted(load.binds, log, fixture.answers).size() == load.binds.size());
  const size_t changes = load.bind.size() + load.unbind.size();
  std::printf("storm: %zu Binds and Unbinds in %zu changes of UFM\n", changes,
              writes(log, kUfmUser));
  CHECK(writes(log, kUfmUser) * 5 <= changes);
}

TEST_CASE("from a Bind to UFM, and from there to the port, on 2,048 hosts and under a storm") {
  kill_manager();  // fake_ufm has its own
  const Storm storm;
  Ports ports;
  Fixture fixture(storm);
  bind_one_by_one(fixture, setting("ROUNDS", 20));
  if (Peer::is_given()) {
    compare_with_peer(storm, fixture.sm, fixture.ufm, ports);
  } else {
    run_under_load(storm, fixture, ports);
  }
}

}  // namespace
}  // namespace ibpod
