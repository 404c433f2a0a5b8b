#include "sm/controller/controller_thread.h"

#include "sm/controller/test_served.h"
#include "tests/support/in_time.h"

#include <future>
#include <latch>

#include <doctest/doctest.h>

namespace ibpod::sm::controller::test {
namespace {

// The thread is not started: no call reaches the controller.
TEST_CASE_FIXTURE(ServedFixture, "who may not change something is refused, and in the audit log") {
  fabric::Partition blue;
  blue.name = "blue";
  const auto one = [&](const auto& answer, const std::string& action, const std::string& subject) {
    CAPTURE(action);
    CHECK(code_of(answer) == Code::denied);
    const std::string line = told();
    CHECK(has(line, "\"audit\":\"" + action + "\""));
    CHECK(has(line, "\"by\":\"CN=grafana\""));
    CHECK(has(line, "\"role\":\"reader\""));
    CHECK(has(line, "\"subject\":\"" + subject + "\""));
    CHECK(has(line, "\"result\":\"denied\""));
    CHECK(has(telemetry.metrics().text(),
              "ibpod_sm_requests_total{action=\"" + action + "\",result=\"denied\"} 1"));
  };
  one(client.create_partition(blue, soon()), "create partition", "blue");
  one(client.update_partition(blue, soon()), "update partition", "blue");
  one(client.delete_partition("blue", soon()), "delete partition", "blue");
  CHECK(code_of(client.delete_partition("green", soon(), true)) == Code::denied);
  CHECK(has(told(), "\"subject\":\"green\",\"result\":\"denied\""));
  one(client.bind(request(kVf1, "blue"), soon()), "bind", "n1/c1/net1");
  one(client.unbind({"n1", "c1", "net1"}, soon()), "unbind", "n1/c1/net1");
  one(client.sync({"n1", {}}, soon()), "sync", "n1");
  one(client.observe({"n1", "", {}}, soon()), "observe", "n1");
  one(client.allocate_guids({"n1", "0000:3b:00.0", {0}}, soon()), "allocate GUIDs",
      "n1/0000:3b:00.0");
  one(client.forget_node({"n1"}, soon()), "forget node", "n1");
}

TEST_CASE_FIXTURE(ServedFixture, "a call that overrides a wait reaches the controller as such") {
  thread.start(*controller);
  is(kAdministrator);
  fabric::Partition blue;
  blue.name = "blue";
  REQUIRE(client.create_partition(blue, soon()));
  (void)client.delete_partition("blue", soon(), true);
  (void)client.forget_node({"n7", true}, soon());
  thread.stop();
  const std::string all = told();
  CHECK(has(all, "\"audit\":\"force delete partition\""));
  CHECK(has(all, "\"audit\":\"force forget node\""));
}

TEST_CASE_FIXTURE(ServedFixture, "who may not look is refused, too, and nothing is written of it") {
  is(kNode1);
  CHECK(code_of(client.health(soon())) == Code::denied);
  CHECK(code_of(client.list_nodes(soon())) == Code::denied);
  CHECK(code_of(client.list_partitions({}, soon())) == Code::denied);
  CHECK(code_of(client.plan({}, soon())) == Code::denied);
  CHECK(code_of(client.explain({{"lab/pod"}}, soon())) == Code::denied);
  fabricapi::BindingFilter others;
  others.node = "n2";
  CHECK(code_of(client.list_bindings(others, {}, soon())) == Code::denied);
  CHECK(code_of(client.get_binding({"n2", "c1", "net1"}, soon())) == Code::denied);
  const Status watched = client.watch_bindings(
      others, [](const fabricapi::BindingChange&) { return true; }, soon());
  CHECK(watched.error().code() == Code::denied);
  CHECK(told().empty());
}

struct FullFixture : ServedFixture {
  FullFixture()
      : ServedFixture({.all = 0, .of_one = 0, .reserve_of_all = 0, .reserve_of_one = 0}) {}
};

TEST_CASE_FIXTURE(FullFixture, "a change that there is no place for is refused, and in the log") {
  is(kAdministrator);
  fabric::Partition blue;
  blue.name = "blue";
  CHECK(code_of(client.create_partition(blue, soon())) == Code::unavailable);
  CHECK(has(told(), "\"result\":\"unavailable\""));
}

TEST_CASE_FIXTURE(ThreadFixture,
                  "an unauthorized caller is logged and counted, whatever it called") {
  const api::RoleRules rules = api::RoleRules::make({}).value();
  const api::Identify identify =
      api::authenticator(rules, {}, [this](const Error& why) { telemetry.unauthorized(why); });
  CHECK(identify({.common_name = "", .names = {}, .local = true}));
  CHECK(told().empty());
  const auto caller = identify({.common_name = "eve", .names = {"DNS=eve.example"}});
  REQUIRE_FALSE(caller);
  CHECK(caller.error().code() == Code::denied);
  CHECK(has(told(), "CN=eve, DNS=eve.example"));
  CHECK(has(telemetry.metrics().text(), "\nibpod_sm_unauthorized_calls_total 1\n"));
}

// Waiting requests do not mean that the thread is stuck.
TEST_CASE_FIXTURE(ThreadFixture, "work on the thread waits behind requests, and is not refused") {
  ControllerThread thread({.all = 1, .of_one = 1, .reserve_of_all = 0, .reserve_of_one = 0});
  thread.start(*controller);
  std::latch busy(1), release(1), asks(1);
  auto first = std::async(std::launch::async, [&] {
    return thread.run([&](Controller&) { busy.count_down(), release.wait(); }, soon());
  });
  busy.wait();
  bool answered = false;
  const auto call = [&] {
    return thread.tasks().try_post("CN=grafana", api::CallQueue::Share::ordinary,
                                   [&] { answered = true; });
  };
  CHECK(call());  // this one waits
  CHECK(call().error().code() == Code::unavailable);
  bool done = false;
  auto second = std::async(std::launch::async, [&] {
    asks.count_down();
    return thread.run([&](Controller&) { done = true; }, soon());
  });
  asks.wait();
  // If it were refused, it would end at once; it must wait for the first one.
  const bool refused = second.wait_for(std::chrono::milliseconds(200)) == std::future_status::ready;
  release.count_down();
  CHECK(first.get());
  CHECK(second.get());
  CHECK_FALSE(refused);
  thread.stop();
  CHECK(done);
  CHECK(answered);
}

// A liveness check sees a tick that does not end, and does not wait for it.
TEST_CASE_FIXTURE(ThreadFixture, "the age of the current tick is returned at once") {
  ControllerThread thread;
  CHECK(thread.time_in_tick() == Duration(0));
  thread.start(*controller);
  std::latch busy(1), release(1);
  auto work = std::async(std::launch::async, [&] {
    return thread.run([&](Controller&) { busy.count_down(), release.wait(); }, soon());
  });
  busy.wait();
  while (thread.time_in_tick() == Duration(0)) std::this_thread::yield();
  release.count_down();
  CHECK(work.get());
  while (thread.time_in_tick() != Duration(0)) std::this_thread::yield();
  thread.stop();
}

TEST_CASE_FIXTURE(ThreadFixture, "work that has not come round by the deadline never runs") {
  ControllerThread thread;
  bool ran = false;
  CHECK_FALSE(thread.run([&](Controller&) { ran = true; }, Deadline::in(Duration(10))));
  thread.start(*controller);
  thread.stop();
  CHECK_FALSE(ran);
}

}  // namespace
}  // namespace ibpod::sm::controller::test
