#include "lib/mad/scheduler.h"

#include "lib/mad/query.h"
#include "tests/support/fake_channel.h"
#include "tests/support/fake_subnet.h"

#include <atomic>
#include <semaphore>

#include <doctest/doctest.h>

namespace ibpod::mad {
namespace {

using namespace std::chrono_literals;

constexpr ib::Lid kHosts = 50;

struct Fixture {
  FakeSubnet subnet;
  std::vector<Route> routes;
  FakeChannel* channel = nullptr;
  std::unique_ptr<Scheduler> scheduler;

  explicit Fixture(const FaultProfile& faults) {
    for (ib::Lid lid = 1; lid <= kHosts; ++lid) {
      subnet.add_adapter(lid, 64);
      routes.push_back(*Route::to(lid));
    }
    auto made = std::make_unique<FakeChannel>(subnet, faults);
    channel = made.get();
    scheduler = std::make_unique<Scheduler>(std::move(made));
  }
};

QueryOptions long_timeout() {
  return {.retry = {.deadline = Deadline::in(60s), .timeout = 60s, .attempts = 20}};
}

QueryOptions short_timeout() {
  return {.retry = {.deadline = Deadline::in(60s), .timeout = 5ms, .attempts = 2}};
}

TEST_CASE("many are asked at once, and the outcomes are in the order of the questions") {
  Fixture fixture({.question_lost = 0.02,
                   .answer_lost = 0.02,
                   .duplicated = 0.2,
                   .reports_loss = true,
                   .least = 0ms,
                   .most = 5ms});
  const auto infos = read_node_infos(*fixture.scheduler, fixture.routes, long_timeout());
  REQUIRE(infos.size() == kHosts);
  for (ib::Lid lid = 1; lid <= kHosts; ++lid) {
    REQUIRE(value_of(infos.at(lid - 1U)));
    CHECK(value_of(infos.at(lid - 1U))->node_guid == fixture.subnet.at(lid).info.node_guid);
  }
}

TEST_CASE("one that is silent does not keep the others from answering") {
  Fixture fixture({.reports_loss = true});
  fixture.subnet.at(7).silent = true;
  const auto infos = read_node_infos(*fixture.scheduler, fixture.routes, long_timeout());
  for (ib::Lid lid = 1; lid <= kHosts; ++lid)
    CHECK((value_of(infos.at(lid - 1U)) != nullptr) == (lid != 7));
  CHECK(failure_of(infos.at(6))->reason == Reason::timeout);
}

TEST_CASE("where nothing comes back its time runs out") {
  Fixture fixture({.question_lost = 1});
  for (const auto& info : read_node_infos(*fixture.scheduler, fixture.routes, short_timeout()))
    CHECK(failure_of(info)->reason == Reason::timeout);
}

TEST_CASE("several threads gather over one scheduler") {
  Fixture fixture({.duplicated = 0.1, .least = 0ms, .most = 2ms});
  std::atomic<int> answered = 0;
  {
    std::vector<std::jthread> threads;
    for (int n = 0; n < 4; ++n) {
      threads.emplace_back([&] {
        for (const auto& info : read_node_infos(*fixture.scheduler, fixture.routes, long_timeout()))
          answered += value_of(info) != nullptr;
      });
    }
  }
  CHECK(answered == 4 * kHosts);
}

TEST_CASE("a stop cancels what has not ended") {
  Fixture fixture({.question_lost = 1});
  QueryOptions options = long_timeout();
  std::stop_source source;
  options.stop = source.get_token();
  std::jthread stopper([&] {
    while (fixture.scheduler->counts().sent == 0) std::this_thread::yield();
    source.request_stop();
  });
  for (const auto& info : read_node_infos(*fixture.scheduler, fixture.routes, options))
    CHECK(failure_of(info)->reason == Reason::cancelled);
  CHECK(failure_of(read_node_infos(*fixture.scheduler, {fixture.routes[0]}, options)[0])->reason ==
        Reason::cancelled);
}

TEST_CASE("the deadline ends a query that no node answers") {
  Fixture fixture({.question_lost = 1});
  QueryOptions options = long_timeout();
  options.retry.deadline = Deadline::in(30ms);
  for (const auto& info : read_node_infos(*fixture.scheduler, fixture.routes, options))
    CHECK(failure_of(info)->reason == Reason::deadline);
}

TEST_CASE("a device that is gone is unreachable") {
  Fixture fixture({});
  fixture.channel->break_off();
  const auto infos = read_node_infos(*fixture.scheduler, {fixture.routes[0]}, short_timeout());
  CHECK(failure_of(infos.at(0))->reason == Reason::unreachable);
}

TEST_CASE("what has not ended when the scheduler goes ends as cancelled") {
  Fixture fixture({.question_lost = 1});
  std::atomic<int> cancelled = 0;
  for (int i = 0; i < 40; ++i) {
    fixture.scheduler->submit({}, [&](const Outcome<Data>& outcome) {
      cancelled += failure_of(outcome)->reason == Reason::cancelled;
    });
  }
  fixture.scheduler.reset();
  CHECK(cancelled == 40);
}

TEST_CASE("what is asked while the scheduler goes ends as cancelled, too") {
  Fixture fixture({.question_lost = 1});
  Scheduler& scheduler = *fixture.scheduler;
  int cancelled = 0;
  const auto count = [&](const Outcome<Data>& outcome) {
    cancelled += failure_of(outcome)->reason == Reason::cancelled;
  };
  for (int i = 0; i < 3; ++i) {
    scheduler.submit({}, [&](const Outcome<Data>& outcome) {
      count(outcome);
      scheduler.submit({}, count);
    });
  }
  fixture.scheduler.reset();
  CHECK(cancelled == 6);
}

TEST_CASE("the callback of an answer may submit another request") {
  Fixture fixture({});
  std::atomic<int> left = 5;
  std::binary_semaphore done{0};
  std::function<void(const Outcome<Data>&)> again = [&](const Outcome<Data>& outcome) {
    CHECK(value_of(outcome));
    if (--left == 0) return done.release();
    fixture.scheduler->submit({fixture.routes[0], {}, long_timeout().retry}, again);
  };
  fixture.scheduler->submit({fixture.routes[0], {}, long_timeout().retry}, again);
  CHECK(done.try_acquire_for(60s));
  fixture.scheduler.reset();  // its thread is perhaps still in there
}

TEST_CASE("nothing asked is nothing gathered") {
  Fixture fixture({});
  CHECK(query_all(*fixture.scheduler, {}).empty());
}

}  // namespace
}  // namespace ibpod::mad
