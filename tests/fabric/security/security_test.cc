// One node's certificate, or none, against ibpod-sm, beside a node that means well: that is served
// as ever, binds and unbinds, ibpod-sm's memory is bounded, and its OpenSM is left alone.
//   SECURITY_SECONDS=N     that each attack takes (8); from 5 on who is due a cut has to be cut
//   SECURITY_ATTACK=NAME   only this one
//   SECURITY_MEMORY_MIB=N  that ibpod-sm may have (256)
//   SECURITY_P99_MS=N      that the good node may wait (1000)
//   SECURITY_SHOW=1        nothing is judged
#include "tests/fabric/security/attackers.h"
#include "tests/fabric/security/good_node.h"
#include "tests/fabric/security/process_memory.h"
#include "tests/fabric/setting.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <future>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

constexpr unsigned kGoodHost = 2;
// In which each attack comes to what it is cut for, also by a build with sanitizers.
constexpr unsigned kSecondsToCut = 5;

unsigned seconds() { return setting("SECURITY_SECONDS", 8U); }

struct Outcome {
  GoodNode::Calls calls;
  Attack::Done attack;
  size_t before = 0, peak = 0, after = 0;  // MiB
};

Outcome run_under_load(const SecureFixture& fixture, GoodNode& good, const Attack& attack) {
  const Deadline end = Deadline::in(std::chrono::seconds(seconds()));
  Outcome outcome;
  outcome.before = resident_mib(fixture.pid());
  const ProcessMemory memory(fixture.pid());
  std::vector<std::future<Attack::Done>> attacking;
  for (unsigned n = 0; n < attack.threads; ++n)
    attacking.push_back(std::async(std::launch::async, attack.run, std::cref(fixture), end));
  outcome.calls = good.ask(end);
  for (std::future<Attack::Done>& one : attacking) {
    const Attack::Done done = one.get();
    outcome.attack.connected += done.connected;
    outcome.attack.cut += done.cut;
  }
  // A backlog would be in the way now.
  outcome.calls += good.ask(Deadline::in(Duration(1000)));
  outcome.peak = memory.peak();
  outcome.after = resident_mib(fixture.pid());
  return outcome;
}

void show(const std::string& name, const Outcome& seen) {
  std::printf("%-14s %5zu %5zu %6zu %8.1f %8.1f %8.1f %6zu %6zu %6zu %9zu %7zu  %s\n", name.c_str(),
              seen.calls.ms.size(), seen.calls.bound, seen.calls.failed, seen.calls.at_percent(50),
              seen.calls.at_percent(99), seen.calls.at_percent(100), seen.before, seen.peak,
              seen.after, seen.attack.connected, seen.attack.cut, seen.calls.error.c_str());
  std::fflush(stdout);
}

void judge(const Attack& attack, const Outcome& seen) {
  if (setting("SECURITY_SHOW", 0) != 0) return;
  CAPTURE(attack.name);
  CHECK(seen.attack.connected > 0);
  if (attack.ends_cut && seconds() >= kSecondsToCut) CHECK(seen.attack.cut > 0);
  CHECK(seen.calls.ms.size() > 0);
  CHECK(seen.calls.bound > 0);
  CHECK(seen.calls.failed == 0);
  CHECK(seen.calls.at_percent(99) < setting("SECURITY_P99_MS", 1000));
  CHECK(seen.peak < setting<size_t>("SECURITY_MEMORY_MIB", 256));
}

bool chosen(const std::string& name) {
  const char* const only = std::getenv("SECURITY_ATTACK");
  return only == nullptr || name == only;
}

TEST_CASE("whoever attacks ibpod-sm spends neither its memory nor another node's time") {
  std::printf("%-14s %5s %5s %6s %8s %8s %8s %6s %6s %6s %9s %7s\n", "attack", "calls", "bound",
              "failed", "p50 ms", "p99 ms", "max ms", "before", "peak", "after", "connected",
              "cut off");
  SecureFixture fixture(SecureFixture::with_pool());
  const auto opensm = fixture.opensm();
  REQUIRE(opensm);
  fixture.create_partition("blue");
  const std::vector<Attack> all = attacks();
  REQUIRE(std::any_of(all.begin(), all.end(), [](const Attack& one) { return chosen(one.name); }));
  for (const Attack& attack : all) {
    if (!chosen(attack.name)) continue;
    GoodNode good(fixture.node(kGoodHost), SmFixture::request(kGoodHost, "blue"));
    const GoodNode::Calls alone = good.ask(Deadline::in(Duration(200)));
    REQUIRE_MESSAGE((alone.failed == 0 && alone.bound > 0 && !alone.ms.empty()), alone.error);
    const Outcome seen = run_under_load(fixture, good, attack);
    show(attack.name, seen);
    judge(attack, seen);
    CHECK(fixture.opensm() == opensm);
    CHECK(fixture.is_healthy());
    fixture.end();
    fixture.start();
  }
}

}  // namespace
}  // namespace ibpod
