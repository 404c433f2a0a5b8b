// Readings of the ports, while the subnet manager writes to them.
#include "lib/base/files.h"
#include "tests/fabric/inside.h"
#include "tests/fabric/watching.h"

#include <cstdio>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using ib::PKey;
using Clock = std::chrono::steady_clock;

const ib::Guid kHost(0x100000 + 2 * 2 + 1);  // h2

// Waits until the port has the key, or no longer has it.
double milliseconds_until(Watching& watching, PKey key, bool there) {
  const auto begun = Clock::now();
  watching.watch().poll({kHost});
  watching.wait([&](const sm::probe::ProbeBatch& readings) {
    const ib::PKeyTable* const table = table_of(readings, kHost);
    return table != nullptr && ib::find_in(*table, key).has_value() == there;
  });
  watching.watch().poll({});
  return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

TEST_CASE("what the subnet manager writes is seen as soon as it is there") {
  Watching watching;
  watching.wait_for_all();
  const Path file("partitions.conf");
  const auto before = read_file(file);
  REQUIRE(before);
  REQUIRE(write_file_atomically(file, *before + "green=0x0022 : 0x0000000000100005=full;\n"));
  hang_up_manager();
  const double come = milliseconds_until(watching, PKey(0x8022), true);
  REQUIRE(write_file_atomically(file, *before));
  hang_up_manager();
  const double gone = milliseconds_until(watching, PKey(0x0022), false);
  std::printf("from SIGHUP to the reading that shows it: come %.1f ms, gone %.1f ms\n", come, gone);
}

TEST_CASE("the switch port's table is told with the port's") {
  Watching watching;
  const sm::probe::ProbeBatch all = watching.wait_for_all();
  CHECK(all.ports.size() == 10);
  for (const sm::probe::ProbeResult& reading : all.ports) {
    const auto* const table = std::get_if<ib::PKeyTable>(&reading.table);
    REQUIRE(table);
    CHECK(table->size() == (reading.switch_port ? 64 : 8));
    if (!reading.switch_port) continue;
    const auto* const leaf = std::get_if<ib::PKeyTable>(&reading.switch_port->table);
    REQUIRE(leaf);
    for (const PKey key : *table) {
      if (key.partition() != 0) CHECK(ib::find_in(*leaf, PKey(key.partition())).has_value());
    }
  }
}

}  // namespace
}  // namespace ibpod
