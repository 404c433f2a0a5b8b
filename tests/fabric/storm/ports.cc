#include "tests/fabric/storm/ports.h"

#include "sm/survey/survey.h"
#include "tests/fabric/sm/sm_process.h"
#include "tests/fabric/watching.h"

#include <algorithm>
#include <cstdio>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

double at(Times ms, size_t percent) {
  if (ms.empty()) return 0;
  std::sort(ms.begin(), ms.end());
  return ms[std::min(ms.size() * percent / 100, ms.size() - 1)];
}

mad::Terms patient() { return {.deadline = Deadline::in(std::chrono::seconds(60))}; }

}  // namespace

double ms_since(Clock::time_point begun) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

double median(Times ms) { return at(std::move(ms), 50); }
double p99(Times ms) { return at(std::move(ms), 99); }

void print(const char* what, const Times& ms) {
  std::printf("%-34s min %7.1f  median %7.1f  p99 %7.1f  max %7.1f ms  (%zu)\n", what, at(ms, 0),
              median(ms), p99(ms), at(ms, 100), ms.size());
  std::fflush(stdout);
}

void print_ratio(const char* what, double value, double goal) {
  std::printf("%-60s %5.2f  (goal: at most %.1f)\n", what, value, goal);
  std::fflush(stdout);
}

Ports::Ports()
    : scheduler_(new_scheduler()),
      survey_(std::make_unique<fabric::Topology>(sm::survey(*scheduler_, {.terms = patient()}))) {}

mad::TablePlace Ports::place(unsigned host) const {
  const fabric::SeenPort* const port = survey_->find(port_guid(host));
  REQUIRE(port != nullptr);
  return {{port->route()}, port->places};
}

std::vector<std::optional<ib::PKeyTable>> Ports::tables(const std::vector<unsigned>& hosts) {
  std::vector<mad::TablePlace> places;
  for (const unsigned host : hosts) places.push_back(place(host));
  std::vector<std::optional<ib::PKeyTable>> tables;
  for (const auto& read : mad::read_tables(*scheduler_, places, {.terms = patient()})) {
    const ib::PKeyTable* const table = mad::value_of(read);
    tables.push_back(table == nullptr ? std::nullopt : std::optional(*table));
  }
  return tables;
}

std::optional<bool> Ports::has(unsigned host, ib::PKey key) {
  const auto table = tables({host}).front();
  if (!table) return std::nullopt;
  return ib::find_in(*table, key).has_value();
}

void Ports::write(const std::vector<unsigned>& hosts, const std::vector<ib::PKeyTable>& tables) {
  std::vector<mad::BlockWrite> writes;
  for (size_t n = 0; n < hosts.size(); ++n)
    writes.push_back({place(hosts[n]).at, 0, mad::block_of(tables[n], 0)});
  for (const auto& written : mad::write_blocks(*scheduler_, writes, {.terms = patient()}))
    REQUIRE(mad::value_of(written) != nullptr);
}

}  // namespace ibpod
