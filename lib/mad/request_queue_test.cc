#include "lib/mad/request_queue.h"

#include <doctest/doctest.h>

namespace ibpod::mad {
namespace {

using namespace std::chrono_literals;

const Route kHere = *Route::to(1);
const Route kThere = *Route::to(2);

struct QueueFixture {
  RequestQueue queue;
  uint64_t last = 0;
  RequestQueue::Time now{};

  explicit QueueFixture(const PerDestinationLimit& limit = {.packets = 2}) : queue(limit) {}

  static Request request(const Route& route, Urgency urgency = Urgency::scan, int attempts = 3) {
    Request made;
    made.route = route;
    made.retry.urgency = urgency;
    made.retry.attempts = attempts;
    return made;
  }
  RequestId add(const Route& route, Urgency urgency = Urgency::scan, int attempts = 3) {
    const RequestId id{++last};
    queue.push_back(id, request(route, urgency, attempts));
    return id;
  }
  std::vector<RequestId> add(size_t count, const Route& route) {
    std::vector<RequestId> ids;
    for (size_t i = 0; i < count; ++i) ids.push_back(add(route));
    return ids;
  }
  std::optional<RequestId> next() {
    return queue.next([](Urgency) { return true; });
  }
  // Sends to `route` while the queue gives a request.
  std::vector<RequestId> send_all(const Route& route) {
    std::vector<RequestId> ids;
    while (const auto id = next()) {
      queue.sent(route);
      ids.push_back(*id);
    }
    return ids;
  }
  // A packet to `route` that was sent at `sent` is lost now.
  std::vector<RequestId> lose(const Route& route, RequestQueue::Time sent) {
    std::vector<RequestId> given_up = queue.note_silence(route, sent, now);
    for (const RequestId id : given_up) queue.remove(id, route);
    queue.lost(route);
    return given_up;
  }
  std::vector<RequestId> lose(const Route& route) { return lose(route, now); }
};

using Ids = std::vector<RequestId>;

TEST_CASE("the most urgent request is next, then the oldest") {
  QueueFixture fixture;
  const RequestId scan = fixture.add(kHere);
  const RequestId bind = fixture.add(kHere, Urgency::bind);
  const RequestId revoke = fixture.add(kHere, Urgency::revoke);
  const RequestId second = fixture.add(kHere, Urgency::bind);
  for (const RequestId id : {revoke, bind, second, scan}) CHECK(fixture.next() == id);
  CHECK_FALSE(fixture.next());
}

TEST_CASE("a request that was tried is older than the others of its urgency") {
  QueueFixture fixture;
  const RequestId tried = fixture.add(kHere);
  REQUIRE(fixture.next() == tried);
  const RequestId newer = fixture.add(kHere);
  fixture.queue.push_front(tried, QueueFixture::request(kHere));
  CHECK(fixture.next() == tried);
  CHECK(fixture.next() == newer);
}

TEST_CASE("less urgent requests do not overtake one for which the window has no room") {
  QueueFixture fixture;
  const auto next = [&](Urgency allowed) {
    return fixture.queue.next([=](Urgency urgency) { return urgency == allowed; });
  };
  const RequestId scan = fixture.add(kHere);
  const RequestId bind = fixture.add(kHere, Urgency::bind);
  CHECK_FALSE(next(Urgency::scan));
  CHECK(next(Urgency::bind) == bind);
  CHECK(next(Urgency::scan) == scan);
}

TEST_CASE("a destination has few packets at once, and others are not held for it") {
  QueueFixture fixture;
  const Ids here = fixture.add(4, kHere);
  CHECK(fixture.send_all(kHere) == Ids{here[0], here[1]});
  const RequestId there = fixture.add(kThere);
  CHECK(fixture.next() == there);
  fixture.queue.answered(kHere, true);
  CHECK(fixture.send_all(kHere) == Ids{here[2]});
  fixture.queue.answered(kHere, true);
  CHECK(fixture.send_all(kHere) == Ids{here[3]});
}

TEST_CASE("a revoke is never held") {
  QueueFixture fixture;
  fixture.add(2, kHere);
  fixture.send_all(kHere);
  fixture.add(kHere, Urgency::bind);
  const RequestId revoke = fixture.add(kHere, Urgency::revoke);
  CHECK(fixture.next() == revoke);
  CHECK_FALSE(fixture.next());
}

TEST_CASE("held requests are released by urgency") {
  QueueFixture fixture;
  fixture.add(2, kHere);
  fixture.send_all(kHere);
  const RequestId scan = fixture.add(kHere);
  const RequestId bind = fixture.add(kHere, Urgency::bind);
  CHECK(fixture.send_all(kHere).empty());
  fixture.queue.answered(kHere, true);
  CHECK(fixture.send_all(kHere) == Ids{bind});
  fixture.queue.answered(kHere, true);
  CHECK(fixture.send_all(kHere) == Ids{scan});
}

TEST_CASE("a silent destination is sent one packet at a time, until it answers") {
  QueueFixture fixture;
  const Ids ids = fixture.add(6, kHere);
  fixture.send_all(kHere);
  CHECK(fixture.lose(kHere).empty());
  CHECK(fixture.send_all(kHere).empty());  // the other packet is still on the wire
  fixture.lose(kHere, fixture.now - 1s);
  CHECK(fixture.send_all(kHere) == Ids{ids[2]});
  fixture.queue.answered(kHere, true);
  CHECK(fixture.send_all(kHere) == Ids{ids[3], ids[4]});
}

TEST_CASE("a late answer ends the silence, too") {
  QueueFixture fixture;
  const Ids ids = fixture.add(4, kHere);
  fixture.send_all(kHere);
  fixture.lose(kHere);
  fixture.queue.answered(kHere, false);
  CHECK(fixture.send_all(kHere) == Ids{ids[2]});
}

TEST_CASE("held requests are given up after as many silences as they have attempts") {
  QueueFixture fixture;
  fixture.add(2, kHere);
  fixture.send_all(kHere);
  const RequestId once = fixture.add(kHere, Urgency::scan, 1);
  const RequestId twice = fixture.add(kHere, Urgency::bind, 2);
  const RequestId thrice = fixture.add(kHere, Urgency::scan, 3);
  CHECK(fixture.send_all(kHere).empty());
  const RequestQueue::Time sent = fixture.now;
  fixture.now += 1s;
  CHECK(fixture.lose(kHere, sent) == Ids{once});
  SUBCASE("packets that were on the wire together count once") {
    CHECK(fixture.lose(kHere, sent).empty());
    CHECK(fixture.send_all(kHere) == Ids{twice});
  }
  SUBCASE("each later one counts, and what is given up is never next") {
    CHECK(fixture.lose(kHere, fixture.now) == Ids{twice});
    CHECK(fixture.send_all(kHere) == Ids{thrice});
  }
}

TEST_CASE("a removed request is not next, and does not keep others from it") {
  QueueFixture fixture;
  const Ids ids = fixture.add(5, kHere);
  fixture.send_all(kHere);
  fixture.queue.answered(kHere, true);  // releases the third
  fixture.queue.remove(ids[2], kHere);
  fixture.queue.remove(ids[3], kHere);
  CHECK(fixture.send_all(kHere) == Ids{ids[4]});
}

TEST_CASE("of the destinations that were silent, the last ones are remembered") {
  QueueFixture fixture({.packets = 2, .remembered = 2});
  const auto sent_at_once = [&](const Route& route) {
    fixture.add(2, route);
    return fixture.send_all(route).size();
  };
  for (ib::Lid lid = 11; lid <= 13; ++lid) {
    fixture.add(*Route::to(lid));
    fixture.send_all(*Route::to(lid));
    fixture.now += 1s;
    fixture.lose(*Route::to(lid));
  }
  CHECK(sent_at_once(*Route::to(12)) == 1);
  CHECK(sent_at_once(*Route::to(13)) == 1);
  CHECK(sent_at_once(*Route::to(11)) == 2);
}

}  // namespace
}  // namespace ibpod::mad
