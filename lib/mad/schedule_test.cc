#include "lib/mad/schedule.h"

#include "tests/support/fake_channel.h"
#include "tests/support/fake_subnet.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod::mad {
namespace {

using namespace std::chrono_literals;

const Route kPath = *Route::along({1});

// A schedule, the wire and a clock that jumps to whatever is next.
struct ScheduleFixture {
  FakeSubnet subnet;
  FakeWire wire;
  Schedule schedule;
  Schedule::Time now{};
  std::multimap<Schedule::Time, Arrival> coming;
  std::map<RequestId, Outcome<Data>> outcomes;
  std::vector<RequestId> order;  // in which they ended
  std::vector<Urgency> sent;     // in this order
  size_t most_on_wire = 0;
  bool connected = true;
  RetryPolicy retry{.deadline = Deadline::at(Schedule::Time{} + 60s)};

  // Without a limit for one place: most tests ask but one.
  explicit ScheduleFixture(size_t window = 16, const FaultProfile& faults = {},
                           const PerDestinationLimit& per_destination = {1000, 1000})
      : wire(subnet, faults),
        schedule(
            window, [n = 0U]() mutable { return ++n; }, per_destination) {
    subnet.connect({&subnet.add_adapter(2, 64), 1}, {&subnet.add_switch(1, 4, 64), 1});
  }

  RequestId ask(const Route& route, Urgency urgency = Urgency::scan) {
    Request request{route, {}, retry};
    request.retry.urgency = urgency;
    // So that a test can tell from a packet which class it is of.
    request.smp.m_key = MKey{static_cast<uint64_t>(urgency)};
    return schedule.add(request);
  }
  RequestId ask(Urgency urgency = Urgency::scan) { return ask(*Route::to(1), urgency); }

  void send_all() {
    while (const auto packet = schedule.next(now)) {
      sent.push_back(static_cast<Urgency>(std::to_integer<int>(packet->mad.at(31))));
      if (!connected) {
        schedule.not_sent(packet->transaction);
        continue;
      }
      for (const auto& [after, arrival] : wire.ask(packet->mad, packet->route))
        coming.emplace(now + after, arrival);
    }
    most_on_wire = std::max(most_on_wire, schedule.counts().on_wire);
  }
  void collect() {
    for (auto& [id, outcome] : schedule.take_ended()) {
      CHECK(!outcomes.contains(id));
      outcomes.emplace(id, outcome);
      order.push_back(id);
    }
  }
  // False: nothing will happen any more.
  bool step() {
    send_all();
    auto next = schedule.due();
    if (!coming.empty() && (!next || coming.begin()->first <= *next)) {
      now = coming.begin()->first;
      schedule.arrived(coming.extract(coming.begin()).mapped(), now);
    } else if (next) {
      now = *next;
    } else {
      return false;
    }
    schedule.pass(now);
    collect();
    return true;
  }
  void run() {
    while (step()) {
    }
  }
  Reason reason(RequestId id) {
    REQUIRE(outcomes.contains(id));
    REQUIRE(failure_of(outcomes.at(id)));
    return failure_of(outcomes.at(id))->reason;
  }
};

TEST_CASE("an answer ends a request, by LID as by path") {
  ScheduleFixture fixture;
  const auto by_lid = fixture.ask(*Route::to(1));
  const auto by_path = fixture.ask(kPath);
  fixture.run();
  for (const RequestId id : {by_lid, by_path}) {
    REQUIRE(value_of(fixture.outcomes.at(id)));
    CHECK(parse_node_info(*value_of(fixture.outcomes.at(id)))->ports == 4);
  }
}

TEST_CASE("silence is a timeout after all attempts") {
  ScheduleFixture fixture;
  const auto id = fixture.ask(*Route::to(9));
  fixture.run();
  CHECK(fixture.reason(id) == Reason::timeout);
  CHECK(fixture.schedule.counts().sent == 3);
  CHECK(fixture.schedule.counts().lost == 3);
  CHECK(fixture.now == Schedule::Time{} + 600ms);
}

TEST_CASE("whatever the weather, every request ends once, and most with the answer") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    ScheduleFixture fixture(16, {.question_lost = 0.1,
                                 .answer_lost = 0.1,
                                 .duplicated = 0.3,
                                 .corrupt = 0.05,
                                 .least = 0ms,
                                 .most = 300ms,
                                 .seed = seed});
    fixture.retry.attempts = 8;
    for (int i = 0; i < 200; ++i) fixture.ask(i % 2 == 0 ? *Route::to(1) : kPath);
    fixture.run();
    CHECK(fixture.outcomes.size() == 200);
    size_t answered = 0;
    for (const auto& [id, outcome] : fixture.outcomes) {
      const Data* const data = value_of(outcome);
      answered += data != nullptr;
      // A packet with a corrupt header is not taken for the answer to another request.
      if (data) CHECK(parse_node_info(*data)->node_guid == fixture.subnet.at(1).info.node_guid);
    }
    CHECK(answered >= 195);
    CHECK(fixture.schedule.counts().on_wire == 0);
    CHECK(fixture.most_on_wire <= 16);
  }
}

TEST_CASE("an answer that is late still counts while the request is tried again") {
  ScheduleFixture fixture(16, {.least = 250ms, .most = 250ms});
  const auto id = fixture.ask();
  fixture.run();
  CHECK(value_of(fixture.outcomes.at(id)));
  CHECK(fixture.schedule.counts().sent == 2);
  CHECK(fixture.schedule.counts().stray == 1);  // the answer to the second, given up meanwhile
  CHECK(fixture.schedule.counts().on_wire == 0);
}

TEST_CASE("an answer after the deadline changes nothing") {
  ScheduleFixture fixture(16, {.least = 250ms, .most = 250ms});
  fixture.retry.deadline = Deadline::at(Schedule::Time{} + 100ms);
  const auto id = fixture.ask();
  fixture.run();
  CHECK(fixture.reason(id) == Reason::deadline);
  CHECK(fixture.outcomes.size() == 1);
  CHECK(fixture.schedule.counts().stray == 1);
}

TEST_CASE("a request whose deadline has passed is not sent") {
  ScheduleFixture fixture;
  fixture.retry.deadline = Deadline::at(Schedule::Time{});
  const auto id = fixture.ask();
  fixture.schedule.pass(fixture.now);
  fixture.run();
  fixture.collect();
  CHECK(fixture.reason(id) == Reason::deadline);
  CHECK(fixture.schedule.counts().sent == 0);
}

TEST_CASE("a refusal is final and keeps its status; a busy node is asked again") {
  ScheduleFixture fixture;
  fixture.subnet.at(1).refuses_with = kStatusBadValue;
  const auto refused = fixture.ask();
  fixture.run();
  CHECK(*failure_of(fixture.outcomes.at(refused)) == Failure{Reason::refused, kStatusBadValue});
  CHECK(fixture.schedule.counts().sent == 1);
  fixture.subnet.at(1).refuses_with = kStatusBusy;
  const auto busy = fixture.ask();
  fixture.step();
  fixture.subnet.at(1).refuses_with = 0;
  fixture.run();
  CHECK(value_of(fixture.outcomes.at(busy)));
  CHECK(fixture.schedule.counts().sent == 3);
}

TEST_CASE("what stays busy has refused, at the pace of its timeouts") {
  ScheduleFixture fixture;
  fixture.subnet.at(1).refuses_with = kStatusBusy;
  const auto id = fixture.ask();
  fixture.run();
  CHECK(*failure_of(fixture.outcomes.at(id)) == Failure{Reason::refused, kStatusBusy});
  CHECK(fixture.now == Schedule::Time{} + 600ms);
}

TEST_CASE("a busy node is not silent: nothing counts as lost, and each is asked") {
  ScheduleFixture fixture(16, {}, {});
  fixture.subnet.at(1).refuses_with = kStatusBusy;
  std::vector<RequestId> ids;
  for (int i = 0; i < 40; ++i) ids.push_back(fixture.ask());
  fixture.run();
  for (const RequestId id : ids)
    CHECK(*failure_of(fixture.outcomes.at(id)) == Failure{Reason::refused, kStatusBusy});
  CHECK(fixture.now == Schedule::Time{} + 600ms);
  CHECK(fixture.schedule.counts().sent == 120);
  CHECK(fixture.schedule.counts().answered == 120);
  CHECK(fixture.schedule.counts().lost == 0);
  CHECK(fixture.schedule.counts().window == 16);
}

TEST_CASE("who waits for a busy node has no packet on the wire, and may be cancelled") {
  ScheduleFixture fixture;
  fixture.subnet.at(1).refuses_with = kStatusBusy;
  const auto cancelled = fixture.ask();
  const auto long_lived = fixture.ask();
  for (int arrivals = 0; arrivals < 2; ++arrivals) fixture.step();
  CHECK(fixture.schedule.counts().on_wire == 0);
  CHECK(fixture.schedule.counts().waiting == 2);
  fixture.schedule.cancel(cancelled);
  fixture.subnet.at(1).refuses_with = 0;
  fixture.run();
  CHECK(fixture.reason(cancelled) == Reason::cancelled);
  CHECK(value_of(fixture.outcomes.at(long_lived)));
  CHECK(fixture.now == Schedule::Time{} + 200ms);
}

TEST_CASE("the deadline ends what waits for a busy node") {
  ScheduleFixture fixture;
  fixture.retry.deadline = Deadline::at(Schedule::Time{} + 100ms);
  fixture.subnet.at(1).refuses_with = kStatusBusy;
  const auto id = fixture.ask();
  fixture.run();
  CHECK(fixture.reason(id) == Reason::deadline);
  CHECK(fixture.now == Schedule::Time{} + 100ms);
}

TEST_CASE("an answer to something else is malformed, after all attempts") {
  ScheduleFixture fixture;
  const auto id = fixture.ask();
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto packet = fixture.schedule.next(fixture.now);
    REQUIRE(packet);
    Mad mad = *fixture.subnet.answer(packet->mad, packet->route);
    mad.at(17) = std::byte{0x15};  // PortInfo
    fixture.schedule.arrived({.mad = mad}, fixture.now);
  }
  fixture.collect();
  CHECK(fixture.reason(id) == Reason::malformed);
  CHECK(fixture.schedule.counts().malformed == 3);
}

TEST_CASE("an answer from a LID that was not asked, or to no request, is not taken") {
  ScheduleFixture fixture;
  const auto id = fixture.ask();
  const auto packet = fixture.schedule.next(fixture.now);
  const Mad mad = *fixture.subnet.answer(packet->mad, packet->route);
  fixture.schedule.arrived({.mad = mad, .source = ib::Lid{7}}, fixture.now);
  fixture.schedule.arrived({.mad = Mad{}}, fixture.now);
  fixture.collect();
  CHECK(fixture.outcomes.empty());
  CHECK(fixture.schedule.counts().stray == 2);
  fixture.schedule.arrived({.mad = mad, .source = ib::Lid{1}}, fixture.now);
  fixture.collect();
  CHECK(value_of(fixture.outcomes.at(id)));
}

TEST_CASE("one packet is answered once, well or not") {
  ScheduleFixture fixture;
  const auto id = fixture.ask();
  const auto packet = fixture.schedule.next(fixture.now);
  Mad mad = *fixture.subnet.answer(packet->mad, packet->route);
  mad.at(17) = std::byte{0x15};  // PortInfo
  for (int times = 0; times < 3; ++times) fixture.schedule.arrived({.mad = mad}, fixture.now);
  CHECK(fixture.schedule.counts().answered == 1);
  CHECK(fixture.schedule.counts().malformed == 1);
  CHECK(fixture.schedule.counts().stray == 2);
  fixture.run();
  CHECK(value_of(fixture.outcomes.at(id)));
}

TEST_CASE("what the channel says of a request that has ended is no arrival") {
  ScheduleFixture fixture;
  const auto id = fixture.ask();
  const auto packet = fixture.schedule.next(fixture.now);
  fixture.schedule.cancel(id);
  for (int times = 0; times < 2; ++times)
    fixture.schedule.arrived({.mad = packet->mad, .answered = false}, fixture.now);
  CHECK(fixture.schedule.counts().lost == 1);
  CHECK(fixture.schedule.counts().stray == 0);
}

TEST_CASE("what the channel says is unanswered is tried again at once") {
  ScheduleFixture fixture;
  const auto id = fixture.ask();
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto packet = fixture.schedule.next(fixture.now);
    REQUIRE(packet);
    fixture.schedule.arrived({.mad = packet->mad, .answered = false}, fixture.now);
  }
  fixture.collect();
  CHECK(fixture.reason(id) == Reason::timeout);
}

TEST_CASE("a channel that takes nothing is not asked without pause") {
  ScheduleFixture fixture;
  fixture.connected = false;
  const auto id = fixture.ask();
  fixture.run();
  CHECK(fixture.reason(id) == Reason::unreachable);
  CHECK(fixture.sent.size() == 3);
  CHECK(fixture.now == Schedule::Time{} + 600ms);
}

TEST_CASE("where nothing can be sent, what waits behind it is unreachable, too") {
  ScheduleFixture fixture(16, {}, {});
  fixture.connected = false;
  std::vector<RequestId> ids;
  for (int i = 0; i < 40; ++i) ids.push_back(fixture.ask());
  fixture.run();
  for (const RequestId id : ids) CHECK(fixture.reason(id) == Reason::unreachable);
  CHECK(fixture.sent.size() == 6);
}

TEST_CASE("the most urgent goes first, and within one urgency the oldest") {
  ScheduleFixture fixture(4, {.least = 1ms, .most = 1ms});
  std::vector<RequestId> ids;
  for (const auto urgency : {Urgency::scan, Urgency::bind, Urgency::scan, Urgency::revoke,
                             Urgency::bind, Urgency::revoke})
    ids.push_back(fixture.ask(urgency));
  fixture.run();
  CHECK(fixture.sent == std::vector<Urgency>{Urgency::revoke, Urgency::revoke, Urgency::bind,
                                             Urgency::bind, Urgency::scan, Urgency::scan});
  CHECK(fixture.order == std::vector<RequestId>{ids[3], ids[5], ids[1], ids[4], ids[0], ids[2]});
}

TEST_CASE("scans leave a quarter of the window free, and a revoke has a place beyond it") {
  ScheduleFixture fixture(8);
  for (int i = 0; i < 20; ++i) fixture.ask(*Route::to(9), Urgency::scan);
  fixture.send_all();
  CHECK(fixture.schedule.counts().on_wire == 6);
  for (int i = 0; i < 20; ++i) fixture.ask(*Route::to(9), Urgency::bind);
  fixture.send_all();
  CHECK(fixture.schedule.counts().on_wire == 8);
  for (int i = 0; i < 20; ++i) fixture.ask(*Route::to(9), Urgency::revoke);
  fixture.send_all();
  CHECK(fixture.schedule.counts().on_wire == 9);
  CHECK(fixture.schedule.counts().waiting == 51);
}

TEST_CASE("a silent place takes few packets of the window, and all others are asked meanwhile") {
  ScheduleFixture fixture(16, {}, {});
  std::vector<RequestId> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(fixture.ask(*Route::to(9)));
  std::vector<RequestId> others;
  for (int i = 0; i < 40; ++i) others.push_back(fixture.ask(*Route::to(1)));
  for (int i = 0; i < 4; ++i) others.push_back(fixture.ask(kPath));
  fixture.run();
  for (const RequestId id : silent) CHECK(fixture.reason(id) == Reason::timeout);
  CHECK(fixture.now == Schedule::Time{} + 600ms);  // one after the other it would be 24 s
  for (const RequestId id : others) CHECK(value_of(fixture.outcomes.at(id)));
  // No request waited until a silent one was given up: all answers come first, in order.
  for (size_t i = 0; i < others.size(); ++i) {
    const auto place = std::find(others.begin(), others.end(), fixture.order.at(i));
    CHECK(place != others.end());
  }
}

// The four of the beginning, and the last of them twice more, alone.
TEST_CASE("what waits behind a silent place ends with it, and is not sent") {
  ScheduleFixture fixture(16, {}, {});
  std::vector<RequestId> ids;
  for (int i = 0; i < 40; ++i) ids.push_back(fixture.ask(*Route::to(9)));
  fixture.run();
  for (const RequestId id : ids) CHECK(fixture.reason(id) == Reason::timeout);
  CHECK(fixture.now == Schedule::Time{} + 600ms);
  CHECK(fixture.schedule.counts().sent == 6);
}

TEST_CASE("to one place no more packets go at once than it may have, but for a revoke") {
  ScheduleFixture fixture(16, {}, {});
  for (int i = 0; i < 20; ++i) fixture.ask();
  for (int i = 0; i < 3; ++i) fixture.ask(Urgency::bind);
  fixture.send_all();
  CHECK(fixture.schedule.counts().on_wire == 4);
  CHECK(std::count(fixture.sent.begin(), fixture.sent.end(), Urgency::bind) == 3);
  fixture.ask(Urgency::revoke);
  fixture.send_all();
  CHECK(fixture.schedule.counts().on_wire == 5);
  fixture.run();
  CHECK(fixture.outcomes.size() == 24);
  for (const auto& [id, outcome] : fixture.outcomes) CHECK(value_of(outcome));
}

TEST_CASE("after a loss a place is asked one thing at a time, until it answers") {
  ScheduleFixture fixture(16, {.question_lost = 1}, {});
  for (int i = 0; i < 20; ++i) fixture.ask();
  fixture.send_all();
  CHECK(fixture.schedule.counts().on_wire == 4);
  for (int i = 0; i < 8; ++i) {
    fixture.step();
    if (fixture.now == Schedule::Time{} + 200ms) continue;  // those of the beginning
    CHECK(fixture.schedule.counts().on_wire <= 1);
  }
  fixture.wire.faults().question_lost = 0;
  fixture.run();
  CHECK(fixture.outcomes.size() == 20);
}

TEST_CASE("of places that were silent so many are remembered, and the oldest forgotten") {
  ScheduleFixture fixture(1U << 20, {}, {.remembered = 2});
  const auto on_wire_to = [&](ib::Lid lid) {
    std::vector<RequestId> ids;
    for (int i = 0; i < 4; ++i) ids.push_back(fixture.ask(*Route::to(lid)));
    fixture.send_all();
    const size_t on_wire = fixture.schedule.counts().on_wire;
    for (const RequestId id : ids) fixture.schedule.cancel(id);
    fixture.run();
    return on_wire;
  };
  for (ib::Lid lid = 11; lid <= 13; ++lid) {
    fixture.ask(*Route::to(lid));
    fixture.run();
  }
  CHECK(on_wire_to(12) == 1);
  CHECK(on_wire_to(13) == 1);
  CHECK(on_wire_to(11) == 4);
}

TEST_CASE("a place that answers is not among the silent ones any more") {
  ScheduleFixture fixture(1U << 20, {}, {.remembered = 1});
  fixture.subnet.at(1).silent = true;
  fixture.ask();
  fixture.run();
  fixture.subnet.at(1).silent = false;
  fixture.ask();
  fixture.run();
  fixture.ask(*Route::to(11));
  fixture.run();
  for (int i = 0; i < 4; ++i) fixture.ask();
  for (int i = 0; i < 4; ++i) fixture.ask(*Route::to(11));
  fixture.send_all();
  CHECK(fixture.schedule.counts().on_wire == 5);
}

TEST_CASE("who waits behind a request that is cancelled is not forgotten") {
  for (int cancelled = 0; cancelled < 12; ++cancelled) {
    CAPTURE(cancelled);
    ScheduleFixture fixture(16, {}, {});
    std::vector<RequestId> ids;
    for (int i = 0; i < 12; ++i) ids.push_back(fixture.ask());
    fixture.send_all();
    for (int i = 0; i <= cancelled; ++i) fixture.schedule.cancel(ids.at(static_cast<size_t>(i)));
    fixture.run();
    CHECK(fixture.outcomes.size() == 12);
    for (size_t i = static_cast<size_t>(cancelled) + 1; i < 12; ++i)
      CHECK(value_of(fixture.outcomes.at(ids[i])));
  }
}

TEST_CASE("losses shrink the window, answers open it again") {
  ScheduleFixture fixture(16, {.least = 1ms, .most = 1ms});
  for (int i = 0; i < 40; ++i) fixture.ask(*Route::to(9));
  while (fixture.schedule.counts().lost < 30) fixture.step();
  CHECK(fixture.schedule.counts().window <= 4);
  for (int i = 0; i < 1000; ++i) fixture.ask();
  fixture.run();
  CHECK(fixture.schedule.counts().window == 16);
  CHECK(fixture.outcomes.size() == 1040);
}

TEST_CASE("a cancelled request ends at once, and its packet keeps its place until it is answered") {
  ScheduleFixture fixture(1, {.least = 100ms, .most = 100ms});
  const auto first = fixture.ask();
  const auto second = fixture.ask();
  const auto third = fixture.ask();
  fixture.send_all();
  fixture.schedule.cancel(first);
  fixture.schedule.cancel(second);
  fixture.collect();
  CHECK(fixture.reason(first) == Reason::cancelled);
  CHECK(fixture.reason(second) == Reason::cancelled);
  fixture.send_all();
  CHECK(fixture.sent.size() == 1);
  fixture.schedule.cancel(first);  // again, and nothing happens
  fixture.run();
  CHECK(value_of(fixture.outcomes.at(third)));
  CHECK(fixture.schedule.counts().sent == 2);
  CHECK(fixture.schedule.counts().stray == 0);
}

TEST_CASE("a transaction that is still in use is not used again") {
  FakeSubnet subnet;
  std::vector<uint32_t> numbers{5, 5, 5, 6};
  Schedule schedule(16, [&, n = size_t{0}]() mutable { return numbers.at(n++); });
  schedule.add({});
  schedule.add({});
  CHECK(schedule.next({})->transaction == 5);
  CHECK(schedule.next({})->transaction == 6);
}

}  // namespace
}  // namespace ibpod::mad
