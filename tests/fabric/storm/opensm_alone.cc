#include "tests/fabric/storm/opensm_alone.h"

#include "lib/base/clock.h"
#include "lib/base/join.h"
#include "lib/ib/hex.h"
#include "tests/fabric/sm/sm_process.h"

#include <cstdio>
#include <deque>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

constexpr unsigned kHost = 100;

std::string file_of(const std::string& more) {
  return "Default=0x7fff, indx0, ipoib : ALL=limited, SELF=full;\n" + more;
}

std::string member(unsigned host) { return "0x" + ib::hex(port_guid(host).value(), 16) + "=full"; }

// With a tenant of that one host, or without.
std::string file_with(bool tenant) {
  return file_of(tenant ? "blue=0x0001 : " + member(kHost) + ";\n" : "");
}

// The file for the pods that live.
std::string file_with(const Storm& storm, int first, int end) {
  std::string members;
  for (int pod = first; pod < end; ++pod) add_item(members, ",\n ", member(storm.host_of(pod)));
  return file_of("red=0x0002 : " + members + ";\n");
}

}  // namespace

sm::opensm::OpenSmSettings OpenSmAlone::settings() {
  sm::opensm::OpenSmSettings settings;
  settings.qos = true;
  return settings;
}

OpenSmAlone::OpenSmAlone(Ports& ports) : opensm_(settings()), ports_(ports) {}

Times OpenSmAlone::sweep(int rounds) {
  Times ms;
  for (int round = 0; round < rounds; ++round) {
    const auto begun = Clock::now();
    REQUIRE(!threw_away(opensm_.read(file_with(round % 2 == 0))));
    ms.push_back(ms_since(begun));
  }
  return ms;
}

Times OpenSmAlone::until_visible(int rounds) {
  Times ms;
  for (int round = 0; round < rounds; ++round) {
    const bool there = round % 2 == 0;
    const auto begun = Clock::now();
    opensm_.ask_to_read(file_with(there));
    while (ports_.has(kHost, ib::PKey(0x8001)) != there) continue;
    ms.push_back(ms_since(begun));
    REQUIRE(opensm_.finish_sweep());
  }
  return ms;
}

void OpenSmAlone::run(const Storm& storm) {
  struct Waiting {
    int pod;
    Clock::time_point since;
  };
  std::deque<Waiting> waiting;
  Times ms;
  size_t never = 0;
  const auto look = [&] {
    while (!waiting.empty() &&
           ports_.has(storm.host_of(waiting.front().pod), ib::PKey(0x8002)) == true) {
      ms.push_back(ms_since(waiting.front().since));
      waiting.pop_front();
    }
  };
  const auto begun = Clock::now();
  for (int pod = 0; pod < storm.pods(); ++pod) {
    while (Clock::now() < storm.time_of(pod, begun)) look();
    waiting.push_back({pod, Clock::now()});
    const int first = std::max(0, pod - storm.life());
    opensm_.ask_to_read(file_with(storm, first, pod + 1));
    if (first == 0) continue;
    opensm_.ask_to_read(file_with(storm, first + 1, pod + 1));
    if (waiting.front().pod > first) continue;
    waiting.pop_front();
    ++never;
  }
  const size_t during = ms.size();
  const Deadline limit = Deadline::in(std::chrono::seconds(storm.seconds));
  while (!waiting.empty() && !limit.passed()) look();
  never += waiting.size();
  print("a HUP for each change", ms);
  std::printf(
      "a HUP for each change: of %d pods %zu had their key while it went on, %zu never or not soon "
      "behind it\n",
      storm.pods(), during, never);
}

}  // namespace ibpod
