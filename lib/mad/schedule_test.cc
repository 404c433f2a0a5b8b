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
struct World {
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
  Terms terms{.deadline = Deadline::at(Schedule::Time{} + 60s)};

  // Without a limit for one place: most tests ask but one.
  explicit World(size_t window = 16, const Weather& weather = {},
                 const ToOnePlace& to_one = {1000, 1000})
      : wire(subnet, weather),
        schedule(
            window, [n = 0U]() mutable { return ++n; }, to_one) {
    subnet.connect({&subnet.add_adapter(2, 64), 1}, {&subnet.add_switch(1, 4, 64), 1});
  }

  RequestId ask(const Route& route, Urgency urgency = Urgency::scan) {
    Request request{route, {}, terms};
    request.terms.urgency = urgency;
    // So that a test can tell from a packet which class it is of.
    request.question.m_key = MKey{static_cast<uint64_t>(urgency)};
    return schedule.add(request);
  }
  RequestId ask(Urgency urgency = Urgency::scan) { return ask(*Route::to(1), urgency); }

  void send_all() {
    while (const auto sending = schedule.next(now)) {
      sent.push_back(static_cast<Urgency>(std::to_integer<int>(sending->mad.at(31))));
      if (!connected) {
        schedule.not_sent(sending->transaction);
        continue;
      }
      for (const auto& [after, arrival] : wire.ask(sending->mad, sending->route))
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
  World world;
  const auto by_lid = world.ask(*Route::to(1));
  const auto by_path = world.ask(kPath);
  world.run();
  for (const RequestId id : {by_lid, by_path}) {
    REQUIRE(value_of(world.outcomes.at(id)));
    CHECK(parse_node_info(*value_of(world.outcomes.at(id)))->ports == 4);
  }
}

TEST_CASE("silence is a timeout after all attempts") {
  World world;
  const auto id = world.ask(*Route::to(9));
  world.run();
  CHECK(world.reason(id) == Reason::timeout);
  CHECK(world.schedule.counts().sent == 3);
  CHECK(world.schedule.counts().lost == 3);
  CHECK(world.now == Schedule::Time{} + 600ms);
}

TEST_CASE("whatever the weather, every request ends once, and most with the answer") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    World world(16, {.question_lost = 0.1,
                     .answer_lost = 0.1,
                     .twice = 0.3,
                     .corrupt = 0.05,
                     .least = 0ms,
                     .most = 300ms,
                     .seed = seed});
    world.terms.attempts = 8;
    for (int i = 0; i < 200; ++i) world.ask(i % 2 == 0 ? *Route::to(1) : kPath);
    world.run();
    CHECK(world.outcomes.size() == 200);
    size_t answered = 0;
    for (const auto& [id, outcome] : world.outcomes) {
      const Data* const data = value_of(outcome);
      answered += data != nullptr;
      // What is corrupt in its header is not taken for an answer to another question.
      if (data) CHECK(parse_node_info(*data)->node_guid == world.subnet.at(1).info.node_guid);
    }
    CHECK(answered >= 195);
    CHECK(world.schedule.counts().on_wire == 0);
    CHECK(world.most_on_wire <= 16);
  }
}

TEST_CASE("an answer that is late still counts while the request is tried again") {
  World world(16, {.least = 250ms, .most = 250ms});
  const auto id = world.ask();
  world.run();
  CHECK(value_of(world.outcomes.at(id)));
  CHECK(world.schedule.counts().sent == 2);
  CHECK(world.schedule.counts().stray == 1);  // the answer to the second, given up meanwhile
  CHECK(world.schedule.counts().on_wire == 0);
}

TEST_CASE("an answer after the deadline changes nothing") {
  World world(16, {.least = 250ms, .most = 250ms});
  world.terms.deadline = Deadline::at(Schedule::Time{} + 100ms);
  const auto id = world.ask();
  world.run();
  CHECK(world.reason(id) == Reason::deadline);
  CHECK(world.outcomes.size() == 1);
  CHECK(world.schedule.counts().stray == 1);
}

TEST_CASE("a request whose deadline has passed is not sent") {
  World world;
  world.terms.deadline = Deadline::at(Schedule::Time{});
  const auto id = world.ask();
  world.schedule.pass(world.now);
  world.run();
  world.collect();
  CHECK(world.reason(id) == Reason::deadline);
  CHECK(world.schedule.counts().sent == 0);
}

TEST_CASE("a refusal is final and keeps its status; a busy node is asked again") {
  World world;
  world.subnet.at(1).refuses_with = kStatusBadValue;
  const auto refused = world.ask();
  world.run();
  CHECK(*failure_of(world.outcomes.at(refused)) == Failure{Reason::refused, kStatusBadValue});
  CHECK(world.schedule.counts().sent == 1);
  world.subnet.at(1).refuses_with = kStatusBusy;
  const auto busy = world.ask();
  world.step();
  world.subnet.at(1).refuses_with = 0;
  world.run();
  CHECK(value_of(world.outcomes.at(busy)));
  CHECK(world.schedule.counts().sent == 3);
}

TEST_CASE("what stays busy has refused, at the pace of its timeouts") {
  World world;
  world.subnet.at(1).refuses_with = kStatusBusy;
  const auto id = world.ask();
  world.run();
  CHECK(*failure_of(world.outcomes.at(id)) == Failure{Reason::refused, kStatusBusy});
  CHECK(world.now == Schedule::Time{} + 600ms);
}

TEST_CASE("a busy node is not silent: nothing counts as lost, and each is asked") {
  World world(16, {}, {});
  world.subnet.at(1).refuses_with = kStatusBusy;
  std::vector<RequestId> ids;
  for (int i = 0; i < 40; ++i) ids.push_back(world.ask());
  world.run();
  for (const RequestId id : ids)
    CHECK(*failure_of(world.outcomes.at(id)) == Failure{Reason::refused, kStatusBusy});
  CHECK(world.now == Schedule::Time{} + 600ms);
  CHECK(world.schedule.counts().sent == 120);
  CHECK(world.schedule.counts().answered == 120);
  CHECK(world.schedule.counts().lost == 0);
  CHECK(world.schedule.counts().window == 16);
}

TEST_CASE("who waits for a busy node has no packet on the wire, and may be cancelled") {
  World world;
  world.subnet.at(1).refuses_with = kStatusBusy;
  const auto cancelled = world.ask();
  const auto patient = world.ask();
  for (int arrivals = 0; arrivals < 2; ++arrivals) world.step();
  CHECK(world.schedule.counts().on_wire == 0);
  CHECK(world.schedule.counts().waiting == 2);
  world.schedule.cancel(cancelled);
  world.subnet.at(1).refuses_with = 0;
  world.run();
  CHECK(world.reason(cancelled) == Reason::cancelled);
  CHECK(value_of(world.outcomes.at(patient)));
  CHECK(world.now == Schedule::Time{} + 200ms);
}

TEST_CASE("the deadline ends what waits for a busy node") {
  World world;
  world.terms.deadline = Deadline::at(Schedule::Time{} + 100ms);
  world.subnet.at(1).refuses_with = kStatusBusy;
  const auto id = world.ask();
  world.run();
  CHECK(world.reason(id) == Reason::deadline);
  CHECK(world.now == Schedule::Time{} + 100ms);
}

TEST_CASE("an answer to something else is malformed, after all attempts") {
  World world;
  const auto id = world.ask();
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto sending = world.schedule.next(world.now);
    REQUIRE(sending);
    Mad mad = *world.subnet.answer(sending->mad, sending->route);
    mad.at(17) = std::byte{0x15};  // PortInfo
    world.schedule.arrived({.mad = mad}, world.now);
  }
  world.collect();
  CHECK(world.reason(id) == Reason::malformed);
  CHECK(world.schedule.counts().malformed == 3);
}

TEST_CASE("an answer from another LID than was asked is not taken, nor one that nobody awaits") {
  World world;
  const auto id = world.ask();
  const auto sending = world.schedule.next(world.now);
  const Mad mad = *world.subnet.answer(sending->mad, sending->route);
  world.schedule.arrived({.mad = mad, .source = ib::Lid{7}}, world.now);
  world.schedule.arrived({.mad = Mad{}}, world.now);
  world.collect();
  CHECK(world.outcomes.empty());
  CHECK(world.schedule.counts().stray == 2);
  world.schedule.arrived({.mad = mad, .source = ib::Lid{1}}, world.now);
  world.collect();
  CHECK(value_of(world.outcomes.at(id)));
}

TEST_CASE("one packet is answered once, well or not") {
  World world;
  const auto id = world.ask();
  const auto sending = world.schedule.next(world.now);
  Mad mad = *world.subnet.answer(sending->mad, sending->route);
  mad.at(17) = std::byte{0x15};  // PortInfo
  for (int times = 0; times < 3; ++times) world.schedule.arrived({.mad = mad}, world.now);
  CHECK(world.schedule.counts().answered == 1);
  CHECK(world.schedule.counts().malformed == 1);
  CHECK(world.schedule.counts().stray == 2);
  world.run();
  CHECK(value_of(world.outcomes.at(id)));
}

TEST_CASE("what the channel says of a request that has ended is no arrival") {
  World world;
  const auto id = world.ask();
  const auto sending = world.schedule.next(world.now);
  world.schedule.cancel(id);
  for (int times = 0; times < 2; ++times)
    world.schedule.arrived({.mad = sending->mad, .answered = false}, world.now);
  CHECK(world.schedule.counts().lost == 1);
  CHECK(world.schedule.counts().stray == 0);
}

TEST_CASE("what the channel says is unanswered is tried again at once") {
  World world;
  const auto id = world.ask();
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto sending = world.schedule.next(world.now);
    REQUIRE(sending);
    world.schedule.arrived({.mad = sending->mad, .answered = false}, world.now);
  }
  world.collect();
  CHECK(world.reason(id) == Reason::timeout);
}

TEST_CASE("a channel that takes nothing is not asked without pause") {
  World world;
  world.connected = false;
  const auto id = world.ask();
  world.run();
  CHECK(world.reason(id) == Reason::unreachable);
  CHECK(world.sent.size() == 3);
  CHECK(world.now == Schedule::Time{} + 600ms);
}

TEST_CASE("where nothing can be sent, what waits behind it is unreachable, too") {
  World world(16, {}, {});
  world.connected = false;
  std::vector<RequestId> ids;
  for (int i = 0; i < 40; ++i) ids.push_back(world.ask());
  world.run();
  for (const RequestId id : ids) CHECK(world.reason(id) == Reason::unreachable);
  CHECK(world.sent.size() == 6);
}

TEST_CASE("the most urgent goes first, and within one urgency the oldest") {
  World world(4, {.least = 1ms, .most = 1ms});
  std::vector<RequestId> ids;
  for (const auto urgency : {Urgency::scan, Urgency::bind, Urgency::scan, Urgency::revoke,
                             Urgency::bind, Urgency::revoke})
    ids.push_back(world.ask(urgency));
  world.run();
  CHECK(world.sent == std::vector<Urgency>{Urgency::revoke, Urgency::revoke, Urgency::bind,
                                           Urgency::bind, Urgency::scan, Urgency::scan});
  CHECK(world.order == std::vector<RequestId>{ids[3], ids[5], ids[1], ids[4], ids[0], ids[2]});
}

TEST_CASE("scans leave a quarter of the window free, and a revoke has a place beyond it") {
  World world(8);
  for (int i = 0; i < 20; ++i) world.ask(*Route::to(9), Urgency::scan);
  world.send_all();
  CHECK(world.schedule.counts().on_wire == 6);
  for (int i = 0; i < 20; ++i) world.ask(*Route::to(9), Urgency::bind);
  world.send_all();
  CHECK(world.schedule.counts().on_wire == 8);
  for (int i = 0; i < 20; ++i) world.ask(*Route::to(9), Urgency::revoke);
  world.send_all();
  CHECK(world.schedule.counts().on_wire == 9);
  CHECK(world.schedule.counts().waiting == 51);
}

TEST_CASE("a silent place takes few packets of the window, and all others are asked meanwhile") {
  World world(16, {}, {});
  std::vector<RequestId> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(world.ask(*Route::to(9)));
  std::vector<RequestId> others;
  for (int i = 0; i < 40; ++i) others.push_back(world.ask(*Route::to(1)));
  for (int i = 0; i < 4; ++i) others.push_back(world.ask(kPath));
  world.run();
  for (const RequestId id : silent) CHECK(world.reason(id) == Reason::timeout);
  CHECK(world.now == Schedule::Time{} + 600ms);  // one behind the other it would be 24 s
  for (const RequestId id : others) CHECK(value_of(world.outcomes.at(id)));
  // Nobody has waited for a packet to be given up: all who answer come first, in their order.
  for (size_t i = 0; i < others.size(); ++i) {
    const auto place = std::find(others.begin(), others.end(), world.order.at(i));
    CHECK(place != others.end());
  }
}

// The four of the beginning, and the last of them twice more, alone.
TEST_CASE("what waits behind a silent place ends with it, and is not sent") {
  World world(16, {}, {});
  std::vector<RequestId> ids;
  for (int i = 0; i < 40; ++i) ids.push_back(world.ask(*Route::to(9)));
  world.run();
  for (const RequestId id : ids) CHECK(world.reason(id) == Reason::timeout);
  CHECK(world.now == Schedule::Time{} + 600ms);
  CHECK(world.schedule.counts().sent == 6);
}

TEST_CASE("to one place no more packets go at once than it may have, but for a revoke") {
  World world(16, {}, {});
  for (int i = 0; i < 20; ++i) world.ask();
  for (int i = 0; i < 3; ++i) world.ask(Urgency::bind);
  world.send_all();
  CHECK(world.schedule.counts().on_wire == 4);
  CHECK(std::count(world.sent.begin(), world.sent.end(), Urgency::bind) == 3);
  world.ask(Urgency::revoke);
  world.send_all();
  CHECK(world.schedule.counts().on_wire == 5);
  world.run();
  CHECK(world.outcomes.size() == 24);
  for (const auto& [id, outcome] : world.outcomes) CHECK(value_of(outcome));
}

TEST_CASE("after a loss a place is asked one thing at a time, until it answers") {
  World world(16, {.question_lost = 1}, {});
  for (int i = 0; i < 20; ++i) world.ask();
  world.send_all();
  CHECK(world.schedule.counts().on_wire == 4);
  for (int i = 0; i < 8; ++i) {
    world.step();
    if (world.now == Schedule::Time{} + 200ms) continue;  // those of the beginning
    CHECK(world.schedule.counts().on_wire <= 1);
  }
  world.wire.weather().question_lost = 0;
  world.run();
  CHECK(world.outcomes.size() == 20);
}

TEST_CASE("of places that were silent so many are remembered, and the oldest forgotten") {
  World world(1U << 20, {}, {.remembered = 2});
  const auto on_wire_to = [&](ib::Lid lid) {
    std::vector<RequestId> ids;
    for (int i = 0; i < 4; ++i) ids.push_back(world.ask(*Route::to(lid)));
    world.send_all();
    const size_t on_wire = world.schedule.counts().on_wire;
    for (const RequestId id : ids) world.schedule.cancel(id);
    world.run();
    return on_wire;
  };
  for (ib::Lid lid = 11; lid <= 13; ++lid) {
    world.ask(*Route::to(lid));
    world.run();
  }
  CHECK(on_wire_to(12) == 1);
  CHECK(on_wire_to(13) == 1);
  CHECK(on_wire_to(11) == 4);
}

TEST_CASE("a place that answers is not among the silent ones any more") {
  World world(1U << 20, {}, {.remembered = 1});
  world.subnet.at(1).silent = true;
  world.ask();
  world.run();
  world.subnet.at(1).silent = false;
  world.ask();
  world.run();
  world.ask(*Route::to(11));
  world.run();
  for (int i = 0; i < 4; ++i) world.ask();
  for (int i = 0; i < 4; ++i) world.ask(*Route::to(11));
  world.send_all();
  CHECK(world.schedule.counts().on_wire == 5);
}

TEST_CASE("who waits behind a request that is cancelled is not forgotten") {
  for (int cancelled = 0; cancelled < 12; ++cancelled) {
    CAPTURE(cancelled);
    World world(16, {}, {});
    std::vector<RequestId> ids;
    for (int i = 0; i < 12; ++i) ids.push_back(world.ask());
    world.send_all();
    for (int i = 0; i <= cancelled; ++i) world.schedule.cancel(ids.at(static_cast<size_t>(i)));
    world.run();
    CHECK(world.outcomes.size() == 12);
    for (size_t i = static_cast<size_t>(cancelled) + 1; i < 12; ++i)
      CHECK(value_of(world.outcomes.at(ids[i])));
  }
}

TEST_CASE("losses shrink the window, answers open it again") {
  World world(16, {.least = 1ms, .most = 1ms});
  for (int i = 0; i < 40; ++i) world.ask(*Route::to(9));
  while (world.schedule.counts().lost < 30) world.step();
  CHECK(world.schedule.counts().window <= 4);
  for (int i = 0; i < 1000; ++i) world.ask();
  world.run();
  CHECK(world.schedule.counts().window == 16);
  CHECK(world.outcomes.size() == 1040);
}

TEST_CASE("a cancelled request ends at once, and its packet keeps its place until it is answered") {
  World world(1, {.least = 100ms, .most = 100ms});
  const auto first = world.ask();
  const auto second = world.ask();
  const auto third = world.ask();
  world.send_all();
  world.schedule.cancel(first);
  world.schedule.cancel(second);
  world.collect();
  CHECK(world.reason(first) == Reason::cancelled);
  CHECK(world.reason(second) == Reason::cancelled);
  world.send_all();
  CHECK(world.sent.size() == 1);
  world.schedule.cancel(first);  // again, and nothing happens
  world.run();
  CHECK(value_of(world.outcomes.at(third)));
  CHECK(world.schedule.counts().sent == 2);
  CHECK(world.schedule.counts().stray == 0);
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
