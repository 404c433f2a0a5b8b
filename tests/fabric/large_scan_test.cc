// Scans and repairs of thousands of ports. The times are printed and not judged.
#include "tests/fabric/large_network.h"
#include "tests/fabric/watching.h"
#include "tests/support/port_tables.h"

#include <cstdio>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using namespace std::chrono_literals;
using ib::PKey;
using Clock = std::chrono::steady_clock;

constexpr int kAltered = 100;
constexpr PKey kStray(0x8666);

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

// A whole one that shows all that was done by then: one may have been under way.
sm::probe::ProbeBatch wait_for_scan_since(Watching& watching, Clock::time_point then) {
  return watching.wait([&](const sm::probe::ProbeBatch& readings) {
    return readings.complete && readings.begun >= then;
  });
}

// The ports whose tables have what nobody has given them, and what takes it out.
std::vector<sm::probe::Repair> repairs(const sm::probe::ProbeBatch& all) {
  std::vector<sm::probe::Repair> found;
  for (const sm::probe::ProbeResult& reading : all.ports) {
    const auto* const table = std::get_if<ib::PKeyTable>(&reading.table);
    const auto index = table == nullptr ? std::nullopt : ib::find_in(*table, kStray);
    if (!index) continue;
    ib::PKeyTable mended = *table;
    mended[*index] = PKey();
    const auto block = static_cast<uint16_t>(*index / mad::kBlockEntries);
    found.push_back({.kind = sm::probe::Repair::Kind::revoke,
                     .port = reading.port,
                     .block = block,
                     .expected = mad::block_of(*table, block),
                     .keys = mad::block_of(mended, block)});
  }
  return found;
}

// Writes all over the table directly, unknown to the subnet manager.
void alter(Watching& watching, const fabric::Topology& topology) {
  std::vector<mad::BlockWrite> writes;
  std::vector<mad::PKeyTableAddress> tables;
  for (size_t i = 0; i < kAltered; ++i) {
    const auto& port = topology.ports().at(i * 20 + 7);
    tables.push_back({{port.route()}, port.partition_cap});
  }
  const mad::QueryOptions options{.retry = {.deadline = Deadline::in(60s)}};
  const auto before = mad::read_tables(watching.scheduler(), tables, options);
  for (size_t i = 0; i < kAltered; ++i) {
    ib::PKeyTable table = *mad::value_of(before[i]);
    const size_t index = 3 + i % (table.size() - 3);
    table.at(index) = kStray;
    const auto block = static_cast<uint16_t>(index / mad::kBlockEntries);
    writes.push_back({tables[i].at, block, mad::block_of(table, block)});
  }
  for (const auto& written : mad::write_blocks(watching.scheduler(), writes, options))
    REQUIRE(mad::value_of(written));
}

TEST_CASE("a hundred tables that somebody has altered are found in one scan, and mended") {
  Watching watching;
  sm::probe::ProbeBatch all = watching.wait_for_all();
  CHECK(all.topology->ports().size() == kHosts + kLeaves + kSpines);
  CHECK(all.ports.size() == all.topology->ports().size());
  CHECK(repairs(all).empty());
  alter(watching, *all.topology);

  auto sent = watching.scheduler().counts().sent;
  auto begun = Clock::now();
  watching.watch().rescan();
  all = wait_for_scan_since(watching, begun);
  std::printf("scan: %zu ports in %.3f s, %llu packets\n", all.ports.size(), seconds_since(begun),
              static_cast<unsigned long long>(watching.scheduler().counts().sent - sent));
  const auto found = repairs(all);
  CHECK(found.size() == kAltered);

  sent = watching.scheduler().counts().sent;
  begun = Clock::now();
  watching.watch().repair(found);
  size_t mended = 0;
  watching.wait([&](const sm::probe::ProbeBatch& readings) {
    for (const sm::probe::ProbeResult& reading : readings.ports) {
      CHECK(!reading.repair_error);
      mended += std::holds_alternative<ib::PKeyTable>(reading.table) ? 1 : 0;
    }
    CHECK(repairs(readings).empty());
    return mended == kAltered;
  });
  std::printf("repair: %d ports in %.3f s, %llu packets\n", kAltered, seconds_since(begun),
              static_cast<unsigned long long>(watching.scheduler().counts().sent - sent));
  begun = Clock::now();
  watching.watch().rescan();
  CHECK(repairs(wait_for_scan_since(watching, begun)).empty());
}

TEST_CASE("who is hurried is read while a scan of all is under way") {
  Watching watching;
  const sm::probe::ProbeBatch all = watching.wait_for_all();
  const ib::Guid port = all.topology->ports().at(1000).guid;
  watching.watch().rescan();
  watching.watch().poll({port});
  size_t between = 0;
  watching.wait([&](const sm::probe::ProbeBatch& readings) {
    if (!readings.complete) between += table_of(readings, port) != nullptr ? 1 : 0;
    return readings.complete;
  });
  CHECK(between > 0);
}

}  // namespace
}  // namespace ibpod
