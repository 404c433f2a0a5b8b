// ibpod-sm on 2,048 hosts, while tables and files are altered without its knowledge: the next scan
// finds all of it and corrects it. Times are printed and not judged.
//   SEED=n  which ports, and how they are altered
#include "tests/fabric/inside.h"
#include "tests/fabric/large_network.h"
#include "tests/fabric/sm/sm_process.h"
#include "tests/fabric/storm/ports.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <future>
#include <random>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using namespace std::chrono_literals;

constexpr size_t kAltered = 100;
constexpr unsigned kFirstMember = 100, kMembers = 100;  // static ones of "blue"
constexpr unsigned kFirstBound = 1000, kBound = 40;     // the bindings to "red"
constexpr ib::PKey kStray(0x8666);
constexpr auto kMended = "ibpod_sm_repairs_total{result=\"written\"}";
constexpr auto kRestores = "ibpod_sm_subnet_manager_events_total{event=\"restore\"}";

using Tables = std::vector<std::optional<ib::PKeyTable>>;

double seconds_since(Clock::time_point begun) { return ms_since(begun) / 1000; }

unsigned seed() { return setting("SEED", 1U); }

double packets(const SmProcess& sm) { return sm.metric("ibpod_sm_packets_total"); }

// These grow when a scan ends, and at no other time.
double scanned(const SmProcess& sm) { return sm.metric("ibpod_sm_packets_total{for=\"scan\"}"); }

// To answer costs it time that it would look at ports in.
void until(SmProcess& sm, const std::function<bool()>& so) {
  sm.until([&] {
    std::this_thread::sleep_for(200ms);
    return so();
  });
}

void until_next_scan(SmProcess& sm) {
  const double before = scanned(sm);
  until(sm, [&] { return scanned(sm) != before; });
}

bool all_verified(const SmProcess& sm) {
  const auto listed = sm.client().list_bindings({}, {}, Deadline::in(30s));
  if (!listed) FAIL(listed.error().text());
  return std::all_of(listed->items.begin(), listed->items.end(), [](const auto& binding) {
    return binding.state == fabric::BindingState::verified;
  });
}

void bind_all(SmProcess& sm) {
  std::vector<std::future<Result<fabric::Binding>>> underway;
  for (unsigned host = kFirstBound; host < kFirstBound + kBound; ++host)
    underway.push_back(std::async(std::launch::async, [&, host] {
      return sm.client().bind(SmProcess::request(host, "red"), Deadline::in(60s));
    }));
  for (auto& one : underway) {
    const auto bound = one.get();
    if (!bound) FAIL(bound.error().text());
  }
  until(sm, [&] { return all_verified(sm); });
}

void make_partitions(const SmProcess& sm) {
  for (const char* const name : {"blue", "red"}) {
    fabric::Partition partition = SmProcess::sample_partition(name);
    for (unsigned n = 0; name == std::string("blue") && n < kMembers; ++n)
      partition.members.push_back(
          {port_guid(kFirstMember + n), fabric::Membership::full, "storage"});
    REQUIRE(sm.client().create_partition(partition, Deadline::in(60s)));
  }
}

struct Fixture : SmProcess {
  Fixture()
      : SmProcess({.hosts = kHosts - 1, .scan_seconds = 10, .more = R"("logLevel": "error")"}) {
    kill_manager();
    start();
    make_partitions(*this);
    bind_all(*this);
    until_next_scan(*this);
  }
  Ports ports;
};

// The simulator's switches do not enforce partitions: what their ports' tables hold is nobody's
// concern.
enum class Kind { stray, deleted, limited };
constexpr std::array kKinds{Kind::stray, Kind::deleted, Kind::limited};

ib::PKeyTable altered(ib::PKeyTable table, Kind kind) {
  // The one that a partition gives it.
  const auto own = std::find_if(table.begin(), table.end(), [](ib::PKey key) {
    return key.partition() != 0 && key.partition() != fabric::kDefaultPKey.partition();
  });
  REQUIRE(own != table.end());
  if (kind == Kind::deleted)
    *own = ib::PKey();
  else if (kind == Kind::limited)
    *own = ib::PKey(own->partition());
  else
    *std::find(table.begin(), table.end(), ib::PKey()) = kStray;
  return table;
}

// Only hosts that a partition names.
std::vector<unsigned> some_hosts() {
  std::vector<unsigned> all;
  for (unsigned n = 0; n < kMembers; ++n) all.push_back(kFirstMember + n);
  for (unsigned n = 0; n < kBound; ++n) all.push_back(kFirstBound + n);
  std::mt19937 random(seed());
  std::shuffle(all.begin(), all.end(), random);
  all.resize(kAltered);
  return all;
}

std::vector<ib::PKeyTable> altered(const Tables& tables) {
  std::vector<ib::PKeyTable> altered_tables;
  for (const auto& table : tables) {
    REQUIRE(table);
    altered_tables.push_back(altered(*table, kKinds[altered_tables.size() % kKinds.size()]));
  }
  return altered_tables;
}

// By a scan that has ended since, or by the next one if that one began before.
void check_all_well(SmProcess& sm) {
  until_next_scan(sm);
  for (const char* const wrong : {"missing_key", "foreign_key", "unseen"})
    until(sm, [&] { return sm.metric("ibpod_sm_ports{state=\"" + std::string(wrong)) == 0; });
}

// All are mended by what one scan has found.
void alter_tables(Fixture& sm) {
  std::printf("seed %u\n", seed());
  const std::vector<unsigned> hosts = some_hosts();
  const Tables before = sm.ports.tables(hosts);
  until_next_scan(sm);
  const double scan = scanned(sm);
  sm.ports.write(hosts, altered(before));
  REQUIRE_MESSAGE(scanned(sm) == scan, "all between two scans");
  const auto begun = Clock::now();
  const double sent = packets(sm);
  const double mended = sm.metric(kMended);

  // The scan that finds them is the only one that has ended since.
  until_next_scan(sm);
  const double found = scanned(sm);
  until(sm, [&] { return sm.ports.tables(hosts) == before; });
  const double took = seconds_since(begun);
  CHECK(scanned(sm) == found);
  std::printf("drift: %zu tables found and mended in %.3f s, %.0f packets, of which %.0f scanned\n",
              kAltered, took, packets(sm) - sent, found - scan);
  // Counted when the port has been read again, after our own reading.
  until(sm, [&] { return sm.metric(kMended) - mended >= kAltered; });
  CHECK(sm.metric(kMended) - mended == kAltered);
  check_all_well(sm);
  CHECK(sm.ports.tables(hosts) == before);
}

// OpenSM is made to read an edit of its file by another program.
void edit_file(Fixture& sm) {
  constexpr unsigned kUnlistedHost = 1500;
  const std::string good = read_file(sm.partitions_conf()).value();
  const Tables before = sm.ports.tables({kUnlistedHost});
  const double sent = packets(sm);
  const auto begun = Clock::now();
  std::ofstream(sm.partitions_conf(), std::ios::app)
      << "green=0x0666 : 0x" << std::hex << port_guid(kUnlistedHost).value() << "=full;\n";
  sm.signal_opensm(SIGHUP);
  until(sm, [&] { return read_file(sm.partitions_conf()).value() == good; });
  const double file = seconds_since(begun);
  until(sm, [&] { return sm.metric(kRestores) > 0; });
  sm.until_healthy();
  until(sm, [&] { return sm.ports.tables({kUnlistedHost}) == before; });
  std::printf("partitions.conf edited: put back in %.3f s, in force in %.3f s, %.0f packets\n",
              file, seconds_since(begun), packets(sm) - sent);
  check_all_well(sm);
  CHECK(read_file(sm.partitions_conf()).value() == good);
  CHECK(sm.ports.tables({kUnlistedHost}) == before);
}

TEST_CASE("what somebody alters at a hundred ports, or in partitions.conf, is put right") {
  Fixture sm;
  alter_tables(sm);
  edit_file(sm);
}

}  // namespace
}  // namespace ibpod
