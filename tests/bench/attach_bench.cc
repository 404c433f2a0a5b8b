// How long our own code takes for a whole attachment: the verbs over a modelled node, with real
// records on this machine's disk, without IPAM and without a kernel. The model's own work counts
// too, so what is printed is the most that ours can be.
#include "lib/attach/verbs.h"
#include "tests/support/attach_fixture.h"

#include <benchmark/benchmark.h>
#include <sys/resource.h>

namespace ibpod::attach {
namespace {

constexpr Duration kTimeout{30'000};

Status add_once(Fixture& fixture) {
  fixture.set_call(cni::Verb::add, "c1", kPod);
  const cni::AddResult result = TRY(fixture.add());
  benchmark::DoNotOptimize(result);
  return ok();
}

Status del_once(Fixture& fixture) {
  fixture.set_call(cni::Verb::del, "c1", kPod);
  return del(fixture.context(), kVf.text(), kTimeout);
}

// Isolation and another GUID: the longest way there is.
void attach_add(benchmark::State& state) {
  Fixture fixture(false);
  for (auto _ : state) {
    const Status added = add_once(fixture);
    state.PauseTiming();
    const Status done = added ? del_once(fixture) : added;
    if (!done) state.SkipWithError(done.error().text().c_str());
    state.ResumeTiming();
  }
}
BENCHMARK(attach_add)->Unit(benchmark::kMicrosecond);

double microseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
}

// User and system time apart: what is the system's is the record's files.
void attach_add_and_del(benchmark::State& state) {
  Fixture fixture(false);
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  for (auto _ : state) {
    const Status added = add_once(fixture);
    const Status done = added ? del_once(fixture) : added;
    if (!done) state.SkipWithError(done.error().text().c_str());
  }
  ::getrusage(RUSAGE_SELF, &after);
  using benchmark::Counter;
  state.counters["user_us"] = Counter(microseconds(after.ru_utime) - microseconds(before.ru_utime),
                                      Counter::kAvgIterations);
  state.counters["system_us"] = Counter(
      microseconds(after.ru_stime) - microseconds(before.ru_stime), Counter::kAvgIterations);
}
BENCHMARK(attach_add_and_del)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ibpod::attach
