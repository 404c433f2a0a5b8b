#include "sm/service/service.h"

#include "sm/controller/test_fixture.h"
#include "sm/service/callers.h"
#include "tests/support/temp_folder.h"

#include <future>
#include <latch>

#include <doctest/doctest.h>

namespace ibpod::sm::service::test {
namespace {

const fabricapi::Caller kReader{fabricapi::Role::reader, "", "CN=grafana"};

struct ServiceBed : controller::test::Fixture {
  ServiceBed() {
    REQUIRE(log.open(folder.path() / "log"));
    log.set_least(log::Level::info);
  }
  // Since the last call.
  std::string told() {
    const std::string all = read_file(folder.path() / "log").value();
    return all.substr(std::exchange(read, all.size()));
  }
  template <typename Value>
  fabricapi::Done<Value> answer() {
    return [this](const Result<Value>& result) {
      codes.push_back(result ? "ok" : std::string(name(result.error().code())));
    };
  }

  TempFolder folder;
  size_t read = 0;
  std::vector<std::string> codes;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE_FIXTURE(ServiceBed, "who may not change something is refused, and in the audit log") {
  Service service(telemetry);  // not started: no call reaches a controller
  const Deadline soon = Deadline::in(Duration(1000));
  fabric::Partition blue;
  blue.name = "blue";
  const auto one = [&](const std::string& action, const std::string& subject) {
    CAPTURE(action);
    const std::string line = told();
    CHECK(has(line, "\"audit\":\"" + action + "\""));
    CHECK(has(line, "\"by\":\"CN=grafana\""));
    CHECK(has(line, "\"role\":\"reader\""));
    CHECK(has(line, "\"subject\":\"" + subject + "\""));
    CHECK(has(line, "\"result\":\"denied\""));
    CHECK(has(telemetry.metrics().text(),
              "ibpod_sm_requests_total{action=\"" + action + "\",result=\"denied\"} 1"));
    CHECK(codes.back() == "denied");
  };
  service.create_partition(kReader, blue, answer<fabric::PartitionStatus>());
  one("create partition", "blue");
  service.update_partition(kReader, blue, answer<fabric::PartitionStatus>());
  one("update partition", "blue");
  service.delete_partition(kReader, "blue", answer<fabric::PartitionStatus>());
  one("delete partition", "blue");
  service.forget_ports(kReader, "green", answer<fabric::PartitionStatus>());
  CHECK(has(told(), "\"subject\":\"green\",\"result\":\"denied\""));
  CHECK(codes.back() == "denied");
  service.bind(kReader, controller::test::request(controller::test::kVf1, "blue"), soon,
               answer<fabric::Binding>());
  one("bind", "n1/c1/net1");
  service.unbind(kReader, {"n1", "c1", "net1"}, soon, answer<fabric::Binding>());
  one("unbind", "n1/c1/net1");
  service.sync(kReader, {"n1", {}}, answer<fabricapi::SyncAnswer>());
  one("sync", "n1");
  service.observe(kReader, {"n1", "", {}}, answer<fabricapi::ObserveAnswer>());
  one("observe", "n1");
  service.allocate_guids(kReader, {"n1", "0000:3b:00.0", {0}},
                         answer<std::vector<fabricapi::AllocatedGuid>>());
  one("allocate GUIDs", "n1/0000:3b:00.0");
  service.forget_node(kReader, {"n1"}, soon, answer<fabricapi::Node>());
  one("forget node", "n1");
}

TEST_CASE_FIXTURE(ServiceBed, "a call that overrides a wait reaches the controller as such") {
  Service service(telemetry);
  service.start(*controller);
  fabric::Partition blue;
  blue.name = "blue";
  std::latch done(3);
  const auto counted = [&](const auto&) { done.count_down(); };
  service.create_partition(controller::test::kAdministrator, blue, counted);
  service.forget_ports(controller::test::kAdministrator, "blue", counted);
  service.forget_node(controller::test::kAdministrator, {"n7", true},
                      Deadline::in(Duration(20'000)), counted);
  done.wait();
  service.stop();
  const std::string all = told();
  CHECK(has(all, "\"audit\":\"force delete partition\""));
  CHECK(has(all, "\"audit\":\"force forget node\""));
}

TEST_CASE_FIXTURE(ServiceBed, "who may not look is refused, too, and nothing is written of it") {
  Service service(telemetry);
  service.health(controller::test::kNode1, answer<fabricapi::FabricHealth>());
  fabricapi::BindingFilter others;
  others.node = "n2";
  service.list_bindings(controller::test::kNode1, others, {},
                        answer<fabricapi::ListPage<fabric::Binding>>());
  CHECK(codes == std::vector<std::string>{"denied", "denied"});
  CHECK(told().empty());
}

TEST_CASE_FIXTURE(ServiceBed, "a change that there is no place for is refused, and in the log") {
  Service service(telemetry, {.all = 0, .of_one = 0, .reserve_of_all = 0, .reserve_of_one = 0});
  fabric::Partition blue;
  blue.name = "blue";
  service.create_partition(controller::test::kAdministrator, blue,
                           answer<fabric::PartitionStatus>());
  CHECK(codes.back() == "unavailable");
  CHECK(has(told(), "\"result\":\"unavailable\""));
}

TEST_CASE_FIXTURE(ServiceBed, "an unauthorized caller is logged and counted, whatever it called") {
  const api::RoleRules authority = api::RoleRules::make({}).value();
  const fabricapi::Identify identify = identify_and_audit(authority, telemetry);
  CHECK(identify({.common_name = "", .names = {}, .local = true}));
  CHECK(told().empty());
  const auto caller = identify({.common_name = "eve", .names = {"DNS=eve.example"}});
  REQUIRE_FALSE(caller);
  CHECK(caller.error().code() == Code::denied);
  CHECK(has(told(), "CN=eve, DNS=eve.example"));
  CHECK(has(telemetry.metrics().text(), "\nibpod_sm_unauthorized_calls_total 1\n"));
}

TEST_CASE("a caller with a role has one account for all its certificates; no other caller has it") {
  const auto rule = [](const char* match, fabricapi::Role role) {
    return api::RoleRule{api::NamePattern::parse(match).value(), role};
  };
  const api::RoleRules authority =
      api::RoleRules::make({rule("DNS=*.nodes", fabricapi::Role::node),
                             rule("CN=system:node:*", fabricapi::Role::node),
                             rule("CN=admin", fabricapi::Role::administrator)})
          .value();
  const rpc::Account account = accounts(authority);
  CHECK(account({.common_name = "ibpod-agent", .names = {"DNS=n1.nodes"}}) == "node n1");
  CHECK(account({.common_name = "system:node:n1", .names = {}}) == "node n1");
  CHECK(account({.common_name = "ibpod-agent", .names = {"DNS=n2.nodes"}}) == "node n2");
  CHECK(account({.common_name = "admin", .names = {}}) == "CN=admin");
  CHECK(account({.common_name = "node n1", .names = {}}) == "unauthorized node n1");
  CHECK(account({.common_name = "admin", .names = {"DNS=n1.nodes", "DNS=n2.nodes"}}) ==
        "unauthorized admin");
}

// Requests that wait are no reason to take the thread for dead.
TEST_CASE_FIXTURE(ServiceBed, "work on the thread waits behind requests, and is not refused") {
  Service service(telemetry, {.all = 1, .of_one = 1, .reserve_of_all = 0, .reserve_of_one = 0});
  service.start(*controller);
  std::latch busy(1), release(1), asks(1);
  const Deadline soon = Deadline::in(Duration(20'000));
  auto first = std::async(std::launch::async, [&] {
    return service.run([&](controller::Controller&) { busy.count_down(), release.wait(); }, soon);
  });
  busy.wait();
  const auto listed = answer<fabricapi::ListPage<fabric::PartitionStatus>>();
  service.list_partitions(kReader, {}, listed);  // waits
  service.list_partitions(kReader, {}, listed);
  CHECK(codes == std::vector<std::string>{"unavailable"});
  bool done = false;
  auto second = std::async(std::launch::async, [&] {
    asks.count_down();
    return service.run([&](controller::Controller&) { done = true; }, soon);
  });
  asks.wait();
  // Refused, it would be over at once; else it ends only behind the first.
  const bool refused = second.wait_for(std::chrono::milliseconds(200)) == std::future_status::ready;
  release.count_down();
  CHECK(first.get());
  CHECK(second.get());
  CHECK_FALSE(refused);
  service.stop();
  CHECK(done);
  CHECK(codes == std::vector<std::string>{"unavailable", "ok"});
}

// A liveness check sees a tick that does not end, and does not wait for it.
TEST_CASE_FIXTURE(ServiceBed, "the age of the current tick is returned at once") {
  Service service(telemetry);
  CHECK(service.time_in_tick() == Duration(0));
  service.start(*controller);
  std::latch busy(1), release(1);
  auto work = std::async(std::launch::async, [&] {
    return service.run([&](controller::Controller&) { busy.count_down(), release.wait(); },
                       Deadline::in(Duration(20'000)));
  });
  busy.wait();
  while (service.time_in_tick() == Duration(0)) std::this_thread::yield();
  release.count_down();
  CHECK(work.get());
  while (service.time_in_tick() != Duration(0)) std::this_thread::yield();
  service.stop();
}

TEST_CASE_FIXTURE(ServiceBed,
                  "a caller's many calls leave the places of others, and its own Unbind") {
  Service service(telemetry, {.all = 10, .of_one = 4, .reserve_of_all = 5, .reserve_of_one = 1});
  const Deadline soon = Deadline::in(Duration(20'000));
  const auto bind = [&](const fabricapi::Caller& caller, const char* node) {
    service.bind(caller, controller::test::request(controller::test::kVf1, "blue", "c1", node),
                 soon, answer<fabric::Binding>());
  };
  for (int n = 0; n < 4; ++n) bind(controller::test::kNode1, "n1");
  CHECK(codes == std::vector<std::string>{"unavailable"});
  CHECK(has(told(), "node n1: limit of waiting calls reached (3)"));
  service.unbind(controller::test::kNode1, {"n1", "c1", "net1"}, soon, answer<fabric::Binding>());
  service.sync(controller::test::kNode1, {"n1", {}}, answer<fabricapi::SyncAnswer>());
  CHECK_MESSAGE(codes.size() == 2, "its fifth call is one too many, whatever it is");
  bind(controller::test::kNode2, "n2");
  CHECK(codes.size() == 2);
  bind(controller::test::kNode2, "n2");
  CHECK_MESSAGE(codes.size() == 3, "all places but the reserve are taken");
  service.sync(controller::test::kNode2, {"n2", {}}, answer<fabricapi::SyncAnswer>());
  service.list_nodes(controller::test::kAdministrator, answer<std::vector<fabricapi::Node>>());
  CHECK(codes.size() == 3);
}

TEST_CASE_FIXTURE(ServiceBed, "work that has not come round by the deadline never runs") {
  Service service(telemetry);
  bool ran = false;
  CHECK_FALSE(
      service.run([&](controller::Controller&) { ran = true; }, Deadline::in(Duration(10))));
  service.start(*controller);
  service.stop();
  CHECK_FALSE(ran);
}

}  // namespace
}  // namespace ibpod::sm::service::test
