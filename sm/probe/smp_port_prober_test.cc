#include "sm/probe/smp_port_prober.h"

#include "tests/support/fake_channel.h"

#include <deque>
#include <mutex>

#include <doctest/doctest.h>

namespace ibpod::sm::probe {
namespace {

using namespace std::chrono_literals;
using ib::PKey;

constexpr ib::Lid kLeaf = 100;
constexpr ib::Lid kHosts = 8;
constexpr uint16_t kPlaces = 40;  // two blocks, the second one not full

// All scans except the first are requested, and everything else is as fast as possible. The channel
// reports losses, so that no test waits for them, or takes a slow machine for one.
ProberSettings eager() {
  ProberSettings settings;
  settings.scan = {.every = 1h, .partial = 1h, .between = 1ms, .most_between = 5ms};
  settings.poll = {1ms, 5ms};
  settings.timeout = settings.limit = 60s;
  settings.attempts = 2;
  return settings;
}

// Eight hosts on a leaf switch; the first one is our own.
struct Bed {
  FakeSubnet subnet;
  FakeChannel* channel = nullptr;
  std::unique_ptr<mad::Scheduler> scheduler;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<ProbeBatch> seen;
  std::unique_ptr<SmpPortProber> watch;

  explicit Bed(const FaultProfile& weather = {.reports_loss = true},
               const ProberSettings& settings = eager()) {
    FakeSubnetNode& leaf = subnet.add_switch(kLeaf, kHosts + 4, 64);
    for (uint8_t n = 1; n <= kHosts; ++n)
      subnet.connect({&subnet.add_adapter(n, kPlaces), 1}, {&leaf, n});
    auto made = std::make_unique<FakeChannel>(subnet, weather);
    channel = made.get();
    scheduler = std::make_unique<mad::Scheduler>(std::move(made));
    watch = std::make_unique<SmpPortProber>(*scheduler, settings, [this](ProbeBatch readings) {
      const std::lock_guard lock(mutex);
      seen.push_back(std::move(readings));
      changed.notify_one();
    });
  }
  ib::Guid guid(ib::Lid lid) { return subnet.port_guid(lid); }
  // The number of unread batches.
  size_t reported() {
    const std::lock_guard lock(mutex);
    return seen.size();
  }

  // Waits for the next matching batch; skips others before it.
  template <typename Fits>
  ProbeBatch wait(const Fits& fits) {
    std::unique_lock lock(mutex);
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (true) {
      if (!changed.wait_until(lock, limit, [this] { return !seen.empty(); })) break;
      ProbeBatch readings = std::move(seen.front());
      seen.pop_front();
      if (fits(readings)) return readings;
    }
    FAIL("it was not seen");
    return {};
  }
  ProbeBatch wait_for_scan() {
    return wait([](const ProbeBatch& readings) { return readings.full_scan; });
  }
  template <typename Fits>
  ProbeResult wait_for(ib::Guid port, const Fits& fits) {
    ProbeResult found;
    wait([&](const ProbeBatch& readings) {
      for (const ProbeResult& reading : readings.ports) {
        if (reading.port != port || !fits(reading)) continue;
        found = reading;
        return true;
      }
      return false;
    });
    return found;
  }
  // The table in the fake subnet.
  ib::PKeyTable table(ib::Lid lid) {
    return channel->between([&] { return subnet.at(lid).ports.begin()->second.pkeys; });
  }
  void put(ib::Lid lid, size_t index, PKey key) {
    channel->between([&] { subnet.at(lid).ports.begin()->second.pkeys.at(index) = key; });
  }
};

const ProbeResult& of(const ProbeBatch& readings, ib::Guid port) {
  for (const ProbeResult& reading : readings.ports) {
    if (reading.port == port) return reading;
  }
  FAIL("no such port in there: " << port.text());
  return readings.ports.front();
}

bool is_read(const ProbeResult& reading) {
  return std::holds_alternative<ib::PKeyTable>(reading.table);
}
std::optional<ProbeFailure> why(const TableOrError& table) {
  const auto* const not_read = std::get_if<ProbeError>(&table);
  return not_read == nullptr ? std::nullopt : std::optional(not_read->failure);
}
auto because(ProbeFailure reason) {
  return [reason](const ProbeResult& reading) { return why(reading.table) == reason; };
}
auto with(PKey key) {
  return [key](const ProbeResult& reading) {
    const auto* const table = std::get_if<ib::PKeyTable>(&reading.table);
    return table != nullptr && ib::find_in(*table, key).has_value();
  };
}

mad::PKeyBlock block(const ib::PKeyTable& table, size_t index, PKey key) {
  ib::PKeyTable changed = table;
  changed.at(index) = key;
  return mad::block_of(changed, static_cast<uint16_t>(index / mad::kBlockEntries));
}

TEST_CASE("it begins with all tables, each as long as it is, and what is in front of them") {
  const auto before = std::chrono::steady_clock::now();
  Bed bed;
  const ProbeBatch all = bed.wait_for_scan();
  CHECK(all.complete);
  CHECK(all.ports.size() == kHosts + 1);
  for (const ProbeResult& reading : all.ports) CHECK(!reading.after_repair);
  CHECK(all.topology->is_complete());
  CHECK(all.begun >= before);
  CHECK(all.begun <= std::chrono::steady_clock::now());
  CHECK(all.packets >= kHosts * 5);
  for (ib::Lid lid = 1; lid <= kHosts; ++lid) {
    const ProbeResult& reading = of(all, bed.guid(lid));
    REQUIRE(is_read(reading));
    CHECK(std::get<ib::PKeyTable>(reading.table) == bed.table(lid));
    CHECK(std::get<ib::PKeyTable>(reading.table).size() == kPlaces);
    REQUIRE(reading.switch_port);
    CHECK(std::get<ib::PKeyTable>(reading.switch_port->table).size() == 64);
    CHECK(!reading.switch_port->inbound);
  }
  CHECK(is_read(of(all, bed.guid(kLeaf))));
  CHECK(!of(all, bed.guid(kLeaf)).switch_port);
}

TEST_CASE("a look is a new scan that shows what was changed before it") {
  Bed bed;
  bed.wait_for_scan();
  for (const size_t index : {size_t{0}, size_t{31}, size_t{32}, size_t{kPlaces - 1}}) {
    bed.put(3, index, PKey(0x8005));
    const auto called = std::chrono::steady_clock::now();
    bed.watch->rescan();
    const ProbeBatch all = bed.wait_for_scan();
    CHECK(all.begun >= called);
    CHECK(std::get<ib::PKeyTable>(of(all, bed.guid(3)).table) == bed.table(3));
  }
}

TEST_CASE("who is hurried is read again and again, until it is no longer named") {
  Bed bed;
  bed.wait_for_scan();
  bed.watch->poll({bed.guid(3), bed.guid(5)});
  bed.wait_for(bed.guid(3), is_read);
  bed.wait_for(bed.guid(5), is_read);
  bed.put(5, 33, PKey(0x8007));
  const ProbeResult reading = bed.wait_for(bed.guid(5), with(PKey(0x8007)));
  CHECK(std::get<ib::PKeyTable>(reading.table).size() == kPlaces);
  bed.watch->poll({bed.guid(3)});
  bed.put(3, 1, PKey(0x8008));
  bed.wait_for(bed.guid(3), with(PKey(0x8008)));
  // Calls are carried out in order: once this scan is answered, no port is polled.
  bed.watch->poll({});
  bed.watch->rescan();
  bed.wait_for_scan();
  const int before = bed.channel->between([&] { return bed.subnet.at(3).questions; });
  bed.watch->rescan();
  bed.wait_for_scan();
  CHECK(bed.channel->between([&] { return bed.subnet.at(3).questions; }) <= before + 8);
}

TEST_CASE("what a switch enforces is asked again for who is hurried") {
  Bed bed;
  CHECK(!of(bed.wait_for_scan(), bed.guid(2)).switch_port->inbound);
  bed.channel->between([&] {
    FakeSubnetPort& port = bed.subnet.at(kLeaf).ports.at(2);
    port.info.enforces_inbound = port.info.enforces_outbound = true;
    port.pkeys.at(40) = PKey(0x8009);
  });
  bed.watch->poll({bed.guid(2)});
  const ProbeResult reading = bed.wait_for(bed.guid(2), [](const ProbeResult& one) {
    return one.switch_port && one.switch_port->inbound;
  });
  CHECK(reading.switch_port->outbound);
  CHECK(std::get<ib::PKeyTable>(reading.switch_port->table).at(40) == PKey(0x8009));
}

TEST_CASE("a silent port is not read, and delays no other port") {
  Bed bed;
  bed.wait_for_scan();
  bed.channel->between([&] { bed.subnet.at(4).silent = true; });
  bed.watch->poll({bed.guid(4), bed.guid(6)});
  bed.put(6, 2, PKey(0x8003));
  bed.wait_for(bed.guid(6), with(PKey(0x8003)));
  // Nor does it count as absent after the next discovery.
  bed.wait_for(bed.guid(4), because(ProbeFailure::timeout));
  bed.watch->rescan();
  const ProbeBatch all = bed.wait_for_scan();
  CHECK(all.full_scan);
  CHECK(!all.complete);
  CHECK(!all.topology->find(bed.guid(4)));
  bed.watch->repair({{.port = bed.guid(4)}});
  const ProbeResult reading = bed.wait_for(bed.guid(4), [](const ProbeResult& one) {
    CHECK(why(one.table) == ProbeFailure::timeout);
    return one.after_repair;
  });
  CHECK(reading.repair_error == ProbeError{ProbeFailure::timeout});
  bed.channel->between([&] { bed.subnet.at(4).silent = false; });
  bed.wait_for(bed.guid(4), is_read);
}

TEST_CASE("a port that comes up is found because it is waited for") {
  Bed bed;
  bed.wait_for_scan();
  const ib::Guid guid =
      bed.channel->between([&] { return bed.subnet.add_adapter(60, 64).ports.at(1).guid; });
  bed.watch->poll({guid});
  bed.wait_for(guid, because(ProbeFailure::port_unknown));
  bed.channel->between([&] {
    bed.subnet.connect({&bed.subnet.at(60), 1}, {&bed.subnet.at(kLeaf), kHosts + 1});
  });
  bed.wait_for(guid, is_read);
}

TEST_CASE("a port that is unplugged and plugged in elsewhere is found there") {
  Bed bed;
  bed.wait_for_scan();
  bed.watch->poll({bed.guid(7)});
  bed.wait_for(bed.guid(7), is_read);
  bed.channel->between([&] {
    FakeSubnetNode& host = bed.subnet.at(7);
    bed.subnet.unplug({&host, 1});
    bed.subnet.connect({&host, 1}, {&bed.subnet.at(kLeaf), kHosts + 2});
    bed.subnet.at(kLeaf).ports.at(kHosts + 2).pkeys.at(9) = PKey(0x800b);
  });
  bed.wait_for(bed.guid(7), [](const ProbeResult& reading) {
    if (!is_read(reading) || !reading.switch_port) return false;
    const auto* const table = std::get_if<ib::PKeyTable>(&reading.switch_port->table);
    return table != nullptr && ib::find_in(*table, PKey(0x800b)).has_value();
  });
}

TEST_CASE("when LIDs are exchanged no table is taken for another port's") {
  Bed bed;
  bed.wait_for_scan();
  bed.put(3, 5, PKey(0x8033));
  bed.put(4, 5, PKey(0x8044));
  bed.watch->poll({bed.guid(3), bed.guid(4)});
  for (int round = 0; round < 20; ++round) {
    bed.channel->between([&] {
      std::swap(bed.subnet.at(3).ports.at(1).info.lid, bed.subnet.at(4).ports.at(1).info.lid);
    });
    const auto moved = std::chrono::steady_clock::now();
    std::set<ib::Guid> left{bed.guid(3), bed.guid(4)};
    bed.wait([&](const ProbeBatch& readings) {
      for (const ProbeResult& reading : readings.ports) {
        if (!is_read(reading)) continue;
        const PKey own(reading.port == bed.guid(3) ? 0x8033 : 0x8044);
        CHECK(ib::find_in(std::get<ib::PKeyTable>(reading.table), own));
        if (readings.begun >= moved) left.erase(reading.port);
      }
      return left.empty();
    });
  }
}

TEST_CASE("a table that is read while the LID moves is not the port's") {
  Bed bed;
  bed.wait_for_scan();
  // The LID moves to another port just before the last block is read; the identity check afterwards
  // shows it.
  bed.channel->between([&] {
    bed.subnet.at(5).before_answer = [&, asked = 0](mad::Attribute attribute) mutable {
      if (attribute != mad::Attribute::pkey_table || ++asked != 1) return;
      std::swap(bed.subnet.at(5).ports.at(1).info.lid, bed.subnet.at(6).ports.at(1).info.lid);
    };
  });
  bed.watch->poll({bed.guid(5)});
  bed.wait_for(bed.guid(5), [](const ProbeResult& reading) {
    CHECK((is_read(reading) == false));
    return why(reading.table) == ProbeFailure::other_port;
  });
}

TEST_CASE("a GUID that is there twice is in doubt") {
  Bed bed;
  bed.wait_for_scan();
  bed.channel->between(
      [&] { bed.subnet.at(3).ports.at(1).guid = bed.subnet.at(2).ports.at(1).guid; });
  bed.watch->rescan();
  const ProbeBatch all = bed.wait_for_scan();
  CHECK(!all.complete);
  CHECK(why(of(all, bed.guid(2)).table) == ProbeFailure::duplicate_guid);
  CHECK(is_read(of(all, bed.guid(4))));
}

TEST_CASE("a repair is written, and what is there then is told") {
  Bed bed;
  bed.wait_for_scan();
  bed.put(2, 35, PKey(0x8666));
  const ib::PKeyTable found = bed.table(2);
  bed.watch->repair({{.kind = Repair::Kind::revoke,
                      .port = bed.guid(2),
                      .block = 1,
                      .expected = mad::block_of(found, 1),
                      .keys = block(found, 35, PKey(0))},
                     {.port = bed.guid(2),
                      .block = 0,
                      .expected = mad::block_of(found, 0),
                      .keys = block(found, 3, PKey(0x8001))}});
  const ProbeResult reading = bed.wait_for(bed.guid(2), [](const ProbeResult&) { return true; });
  CHECK(!reading.repair_error);
  CHECK(reading.after_repair);
  CHECK(std::get<ib::PKeyTable>(reading.table) == bed.table(2));
  CHECK(bed.table(2).at(35) == PKey(0));
  CHECK(bed.table(2).at(3) == PKey(0x8001));
  CHECK(bed.table(2).at(0) == ib::kDefaultFull);
}

TEST_CASE("the table of the switch port is repaired, too") {
  Bed bed;
  bed.wait_for_scan();
  mad::PKeyBlock was{};
  was.at(0) = ib::kDefaultFull;
  mad::PKeyBlock keys = was;
  keys.at(1) = PKey(0x8001);
  bed.watch->repair(
      {{.port = bed.guid(2), .table = Repair::Table::switch_port, .expected = was, .keys = keys}});
  const ProbeResult reading = bed.wait_for(bed.guid(2), [](const ProbeResult&) { return true; });
  CHECK(!reading.repair_error);
  CHECK(std::get<ib::PKeyTable>(reading.switch_port->table).at(1) == PKey(0x8001));
  CHECK(bed.channel->between([&] { return bed.subnet.at(kLeaf).ports.at(2).pkeys.at(1); }) ==
        PKey(0x8001));
}

TEST_CASE("a block that is no longer what it was is left alone") {
  Bed bed;
  bed.wait_for_scan();
  const ib::PKeyTable found = bed.table(2);
  bed.put(2, 7, PKey(0x8002));
  bed.watch->repair({{.port = bed.guid(2),
                      .expected = mad::block_of(found, 0),
                      .keys = block(found, 3, PKey(0x8001))}});
  const ProbeResult reading = bed.wait_for(bed.guid(2), [](const ProbeResult&) { return true; });
  CHECK(reading.repair_error == ProbeError{ProbeFailure::changed});
  CHECK(std::get<ib::PKeyTable>(reading.table).at(7) == PKey(0x8002));
  CHECK(bed.table(2).at(3) == PKey(0));
}

TEST_CASE("nothing is written to who has got the port's LID") {
  Bed bed;
  bed.wait_for_scan();
  const ib::PKeyTable found = bed.table(2);
  bed.channel->between([&] {
    std::swap(bed.subnet.at(2).ports.at(1).info.lid, bed.subnet.at(3).ports.at(1).info.lid);
  });
  bed.watch->repair({{.port = bed.guid(2),
                      .expected = mad::block_of(found, 0),
                      .keys = block(found, 3, PKey(0x8001))}});
  const ProbeResult reading = bed.wait_for(bed.guid(2), [](const ProbeResult&) { return true; });
  CHECK(reading.repair_error == ProbeError{ProbeFailure::other_port});
  CHECK(bed.table(2) == found);
  CHECK(bed.table(3) == found);
}

TEST_CASE("a port with another M_Key does not permit a repair") {
  Bed bed;
  bed.wait_for_scan();
  const ib::PKeyTable found = bed.table(2);
  bed.channel->between([&] { bed.subnet.at(2).m_key = mad::MKey{5}; });
  bed.watch->repair({{.port = bed.guid(2),
                      .expected = mad::block_of(found, 0),
                      .keys = block(found, 3, PKey(0x8001))}});
  const ProbeResult reading = bed.wait_for(bed.guid(2), [](const ProbeResult&) { return true; });
  CHECK(reading.repair_error == ProbeError{ProbeFailure::not_permitted});
  CHECK(std::get<ib::PKeyTable>(reading.table) == found);
}

TEST_CASE("a repair of who is not there says so") {
  Bed bed;
  bed.wait_for_scan();
  bed.watch->repair({{.port = ib::Guid(0x999)}});
  const ProbeResult reading =
      bed.wait_for(ib::Guid(0x999), [](const ProbeResult&) { return true; });
  CHECK(reading.repair_error == ProbeError{ProbeFailure::port_unknown});
  CHECK(why(reading.table) == ProbeFailure::port_unknown);
  CHECK(reading.after_repair);
}

TEST_CASE(
    "repairs and hurried ports that are ordered at once are not forgotten before the first "
    "survey") {
  Bed bed;
  bed.watch->repair({{.port = bed.guid(2), .block = 7}});
  bed.watch->poll({bed.guid(3)});
  CHECK(bed.wait_for(bed.guid(2),
                     [](const ProbeResult& reading) { return reading.repair_error.has_value(); })
            .repair_error == ProbeError{ProbeFailure::refused, mad::kStatusBadValue});
  bed.wait_for(bed.guid(3), is_read);
}

TEST_CASE("in foul weather nothing is read that is not there") {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    ProberSettings settings = eager();
    settings.attempts = 6;
    Bed bed({.question_lost = 0.1,
             .answer_lost = 0.1,
             .duplicated = 0.3,
             .reports_loss = true,
             .most = 2ms,
             .seed = seed},
            settings);
    std::set<ib::Guid> all;
    for (ib::Lid lid = 1; lid <= kHosts; ++lid) all.insert(bed.guid(lid));
    bed.watch->poll(all);
    for (ib::Lid lid = 1; lid <= kHosts; ++lid) {
      const ProbeResult reading = bed.wait_for(bed.guid(lid), is_read);
      CHECK(std::get<ib::PKeyTable>(reading.table) == bed.table(lid));
    }
  }
}

TEST_CASE("a device that is gone makes everything unreachable, and the watch ends all the same") {
  ProberSettings settings = eager();
  settings.timeout = 5ms;  // requests that cannot be sent end after this time
  Bed bed({}, settings);
  // On a busy machine an answer may come too late, too.
  while (!bed.wait_for_scan().complete) bed.watch->rescan();
  bed.channel->break_off();
  bed.watch->poll({bed.guid(2)});
  bed.wait_for(bed.guid(2), because(ProbeFailure::unreachable));
  bed.watch.reset();
}

TEST_CASE("it stops whatever it is doing, and reports nothing afterwards") {
  for (int orders = 0; orders < 20; ++orders) {
    ProberSettings settings = eager();
    Bed bed({.question_lost = orders % 4 == 0 ? 1.0 : 0.0, .most = 1ms}, settings);
    std::set<ib::Guid> all;
    for (ib::Lid lid = 1; lid <= kHosts; ++lid) all.insert(bed.guid(lid));
    bed.watch->poll(all);
    bed.watch->rescan();
    if (orders % 2 == 0) bed.watch->swept();
    if (orders % 3 == 0 && orders % 4 != 0) bed.wait_for_scan();
    bed.watch.reset();
    const size_t reported = bed.reported();
    bed.scheduler.reset();  // all requests under way have ended
    CHECK(bed.reported() == reported);
  }
}

TEST_CASE("orders from many threads, and from within, are taken") {
  Bed bed;
  bed.wait_for_scan();
  {
    std::vector<std::jthread> threads;
    for (ib::Lid lid = 1; lid <= 4; ++lid) {
      threads.emplace_back([&, lid] {
        for (int i = 0; i < 50; ++i) {
          bed.watch->poll({bed.guid(lid)});
          bed.watch->swept();
        }
      });
    }
  }
  bed.watch->poll({bed.guid(8)});
  bed.put(8, 8, PKey(0x8008));
  bed.wait_for(bed.guid(8), with(PKey(0x8008)));
}

}  // namespace
}  // namespace ibpod::sm::probe
