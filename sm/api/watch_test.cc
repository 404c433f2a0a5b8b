#include "api/ibpod/v1/fabric.grpc.pb.h"
#include "lib/rpc/channel.h"
#include "sm/api/test_service.h"

#include <future>
#include <optional>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

BindingChange change(uint64_t generation, bool gone = false) {
  BindingChange change{test_binding(), gone};
  change.binding.generation = generation;
  return change;
}

bool watched(const TestFabric& fabric) {
  return in_time([&] { return fabric.watches() > 0; });
}

bool unwatched(const TestFabric& fabric) {
  return in_time([&] { return fabric.watches() == 0; });
}

TEST_CASE("fabric API: a watcher is told everything, in order, until it wants no more") {
  ServiceFixture fixture;
  std::vector<BindingChange> seen;
  auto watching = std::async(std::launch::async, [&] {
    return fixture.client.watch_bindings(
        test_filter(),
        [&](const BindingChange& one) {
          seen.push_back(one);
          return !one.gone;
        },
        soon());
  });
  REQUIRE(watched(fixture.fabric));
  std::vector<BindingChange> told;
  for (uint64_t n = 0; n < 300; ++n) {
    told.push_back(change(n, n == 299));
    CHECK(fixture.fabric.tell(told.back()));
  }
  CHECK(watching.get());
  CHECK(seen == told);
  CHECK(fixture.fabric.last_requests().filter == test_filter());
  CHECK(unwatched(fixture.fabric));
  CHECK_FALSE(fixture.fabric.tell(change(1)));
}

TEST_CASE("fabric API: a watch ends at its deadline, and with the server") {
  ServiceFixture fixture;
  const auto any = [](const BindingChange&) { return true; };
  const auto late = fixture.client.watch_bindings({}, any, Deadline::in(Duration(100)));
  CHECK(late.error().code() == Code::unavailable);
  CHECK(unwatched(fixture.fabric));
  auto watching = std::async(std::launch::async,
                             [&] { return fixture.client.watch_bindings({}, any, soon()); });
  REQUIRE(watched(fixture.fabric));
  fixture.server->stop(Duration(0));
  CHECK(watching.get().error().code() == Code::unavailable);
  CHECK(fixture.fabric.watches() == 0);
  CHECK_FALSE(fixture.fabric.tell(change(1)));
}

TEST_CASE("fabric API: a watch that the fabric refuses, or drops, ends with its reason") {
  ServiceFixture fixture;
  const auto any = [](const BindingChange&) { return true; };
  fixture.fabric.fails(Error(Code::denied, "only your own"));
  const auto refused = fixture.client.watch_bindings({}, any, soon());
  CHECK(refused.error().code() == Code::denied);
  CHECK(refused.error().text().ends_with(": only your own"));
}

TEST_CASE("fabric API: a watch that begins after its watcher has gone is given back") {
  ServiceFixture fixture;
  fixture.fabric.acts(TestFabric::Behavior::keeps);
  const auto any = [](const BindingChange&) { return true; };
  REQUIRE(goes_before_the_answer(fixture.fabric, [&](Deadline deadline) {
    return fixture.client.watch_bindings({}, any, deadline);
  }));
  REQUIRE(in_time([&] { return !fixture.fabric.tell(change(1)); }));
  fixture.fabric.release();
  CHECK(unwatched(fixture.fabric));
}

TEST_CASE("fabric API: who reads too slowly is cut off and told so; others go on") {
  ServiceSettings settings;
  settings.watch_bytes.of_one = 100'000;
  ServiceFixture fixture(settings);
  const auto stub = v1::Fabric::NewStub(rpc::connect_unix(fixture.socket).value());
  grpc::ClientContext context;
  rpc::set_deadline(context, Deadline::in(Duration(300'000)));  // enough for a busy machine
  const auto stream = stub->WatchBindings(&context, {});
  REQUIRE(watched(fixture.fabric));
  // The client does not read: both ends of the socket fill, and then our own buffer.
  size_t told = 0;
  while (told < 1'000'000 && fixture.fabric.tell(change(told))) ++told;
  CHECK(told > 300);
  CHECK(told < 1'000'000);
  CHECK(fixture.client.health(soon()));
  v1::BindingChange message;
  uint64_t next = 0;
  while (stream->Read(&message) && message.binding().generation() == next) ++next;
  const grpc::Status status = stream->Finish();
  CHECK(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(status.error_message().find("reads too slowly") != std::string::npos);
  CHECK(next <= told);
  CHECK(unwatched(fixture.fabric));
}

TEST_CASE("fabric API: what there is may be more than what may wait; changes behind it count") {
  ServiceSettings settings;
  settings.watch_bytes.of_one = 100'000;
  ServiceFixture fixture(settings);
  std::vector<BindingChange> there;
  for (uint64_t n = 0; n < 3000; ++n) there.push_back(change(n));
  fixture.fabric.has(there);
  const auto stub = v1::Fabric::NewStub(rpc::connect_unix(fixture.socket).value());
  grpc::ClientContext context;
  const Deadline deadline = Deadline::in(Duration(300'000));  // enough for a busy machine
  rpc::set_deadline(context, deadline);
  const auto stream = stub->WatchBindings(&context, {});
  REQUIRE(watched(fixture.fabric));
  size_t changes = 0;
  while (changes < 1'000'000 && fixture.fabric.tell(change(3000 + changes))) ++changes;
  CHECK(changes < 1'000'000);
  v1::BindingChange message;
  uint64_t next = 0;
  while (stream->Read(&message) && message.binding().generation() == next) ++next;
  CHECK(stream->Finish().error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);

  std::vector<BindingChange> seen;
  const auto all = fixture.client.watch_bindings(
      {}, [&](const BindingChange& one) { return seen.push_back(one), seen.size() < 3000; },
      deadline);
  CHECK(all);
  CHECK(seen == there);
}

TEST_CASE("fabric API: of what waits for all watchers only those are cut for whom much waits") {
  const auto all =
      std::make_shared<WatchBytes>(WatchBytes::Limits{.of_one = 100, .of_all = 200, .little = 10});
  CHECK(all->allows(100));
  CHECK_FALSE(all->allows(101));
  std::optional<WatchBytes::Reservation> others(std::in_place, all, 201);
  CHECK_FALSE(all->allows(11));
  CHECK(all->allows(10));
  others.reset();
  CHECK(all->waiting() == 0);
  CHECK(all->allows(100));
}

TEST_CASE("fabric API: watchers who read too slowly are cut off for all together, too") {
  ServiceSettings settings;
  settings.watch_bytes = {.of_one = 1 << 30, .of_all = 100'000, .little = 1'000};
  ServiceFixture fixture(settings);
  const auto stub = v1::Fabric::NewStub(rpc::connect_unix(fixture.socket).value());
  grpc::ClientContext context;
  rpc::set_deadline(context, Deadline::in(Duration(300'000)));  // enough for a busy machine
  const auto stream = stub->WatchBindings(&context, {});
  REQUIRE(watched(fixture.fabric));
  size_t told = 0;
  while (told < 1'000'000 && fixture.fabric.tell(change(told))) ++told;
  CHECK(told < 1'000'000);
  v1::BindingChange message;
  while (stream->Read(&message)) continue;
  CHECK(stream->Finish().error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(unwatched(fixture.fabric));
}

TEST_CASE("fabric API: too many watches are refused, and one's end makes a place") {
  ServiceSettings settings;
  settings.watches_of_one = 1;
  ServiceFixture fixture(settings);
  const auto once = [](const BindingChange&) { return false; };
  auto first = std::async(std::launch::async,
                          [&] { return fixture.client.watch_bindings({}, once, soon()); });
  REQUIRE(watched(fixture.fabric));
  const auto second = fixture.client.watch_bindings({}, once, soon());
  CHECK(second.error().text().ends_with(
      "root: limit of watches in progress reached (1); try again later"));
  REQUIRE(fixture.fabric.tell(change(1)));
  CHECK(first.get());
  REQUIRE(unwatched(fixture.fabric));
  auto third = std::async(std::launch::async,
                          [&] { return fixture.client.watch_bindings({}, once, soon()); });
  REQUIRE(watched(fixture.fabric));
  CHECK(fixture.fabric.tell(change(2)));
  CHECK(third.get());
}

TEST_CASE("fabric API: many come and go while others are told") {
  ServiceFixture fixture;
  std::atomic<bool> over = false;
  std::thread telling([&] {
    for (uint64_t n = 0; !over; ++n) {
      (void)fixture.fabric.tell(change(n));  // there may be no watcher
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 30; ++i) {
    int wanted = i % 5;
    const auto some = [&](const BindingChange&) { return wanted-- > 0; };
    CHECK(fixture.client.watch_bindings({}, some, soon()));
  }
  over = true;
  telling.join();
  CHECK(unwatched(fixture.fabric));
}

}  // namespace
}  // namespace ibpod::sm::api
