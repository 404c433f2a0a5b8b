#include "api/ibpod/v1/fabric.grpc.pb.h"
#include "lib/fabricapi/messages.h"
#include "lib/rpc/channel.h"
#include "sm/api/test_service.h"

#include <future>

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

std::string bytes(const google::protobuf::MessageLite& message) {
  return message.SerializeAsString();
}
template <typename Message>
std::string bytes(const Result<Message>& answer) {
  return bytes(answer.value());
}

TEST_CASE("fabric API: partitions, there and back") {
  ServiceFixture fixture;
  CHECK(fixture.client.create_partition(test_partition(), soon()).value() == test_status());
  CHECK(fixture.fabric.last_requests().partition == test_partition());
  CHECK(fixture.fabric.last_requests().caller == kRoot);
  fabric::Partition bare;
  bare.name = "red";
  CHECK(fixture.client.update_partition(bare, soon()).value() == test_status());
  CHECK(fixture.fabric.last_requests().partition == bare);
  CHECK(fixture.client.delete_partition("blue", soon()).value() == test_status());
  CHECK(fixture.fabric.last_requests().name == "blue");
  CHECK(fixture.client.delete_partition("blue", soon(), true).value() == test_status());
  CHECK(fixture.fabric.last_requests().name == "forgetting blue");
  const ListPage<fabric::PartitionStatus> listed{{test_status()}, "next"};
  CHECK(fixture.client.list_partitions({10, "token"}, soon()).value() == listed);
  CHECK(fixture.fabric.last_requests().page == PageRequest{10, "token"});
}

TEST_CASE("fabric API: bindings, there and back") {
  ServiceFixture fixture;
  CHECK(fixture.client.bind(test_bind(), soon()).value() == test_binding());
  CHECK(fixture.fabric.last_requests().bound == test_bind());
  CHECK(fixture.client.unbind(test_attachment(), soon()).value() == test_binding());
  CHECK(fixture.fabric.last_requests().attachment == test_attachment());
  CHECK(fixture.client.get_binding(test_attachment(), soon()).value() == test_binding());
  const ListPage<fabric::Binding> listed{{test_binding()}, "next"};
  CHECK(fixture.client.list_bindings(test_filter(), {5, "t"}, soon()).value() == listed);
  CHECK(fixture.fabric.last_requests().filter == test_filter());
  CHECK(fixture.client.list_bindings({}, {}, soon()).value() == listed);
  CHECK(fixture.fabric.last_requests().filter == BindingFilter());
}

TEST_CASE("fabric API: nodes, there and back") {
  ServiceFixture fixture;
  CHECK(fixture.client.sync(test_sync(), soon()).value() == test_sync_answer());
  CHECK(fixture.fabric.last_requests().synced == test_sync());
  CHECK(bytes(fixture.client.observe(test_observe(), soon())) == bytes(test_observe_answer()));
  CHECK(fixture.fabric.last_requests().observed == test_observe());
  CHECK(fixture.client.allocate_guids(test_allocate(), soon()).value() == test_allocated());
  CHECK(fixture.fabric.last_requests().allocated == test_allocate());
  CHECK(bytes(fixture.client.list_nodes(soon())) == bytes(test_nodes()));
  CHECK(bytes(fixture.client.forget_node({"n7"}, soon())) == bytes(test_nodes().nodes(0)));
  CHECK(fixture.fabric.last_requests().forgotten == ForgetRequest{"n7", false});
  REQUIRE(fixture.client.forget_node({"n7", true}, soon()));
  CHECK(fixture.fabric.last_requests().forgotten == ForgetRequest{"n7", true});
}

TEST_CASE("fabric API: what is for people, there and back") {
  ServiceFixture fixture;
  CHECK(bytes(fixture.client.plan(test_plan(), soon())) == bytes(test_plan_answer()));
  CHECK(fixture.fabric.last_requests().planned == test_plan());
  CHECK(fixture.client.plan({std::nullopt, "blue"}, soon()));
  CHECK(fixture.fabric.last_requests().planned == PlanRequest{std::nullopt, "blue"});
  CHECK(fixture.client.plan({}, soon()));
  CHECK(fixture.client.explain(test_explain(), soon()).value() == test_explanation());
  CHECK(fixture.fabric.last_requests().explained == test_explain());
  CHECK(bytes(fixture.client.health(soon())) == bytes(test_health()));
}

TEST_CASE("fabric API: errors keep their code and say who answered") {
  ServiceFixture fixture;
  for (const Code code : {Code::invalid, Code::not_found, Code::exists, Code::busy,
                          Code::unsupported, Code::denied, Code::unavailable, Code::internal}) {
    fixture.fabric.fails(Error(code, "why"));
    const auto refused = fixture.client.bind(test_bind(), soon());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == code);
    CHECK(refused.error().text() == "ibpod-sm at " + fixture.socket.string() + ": why");
  }
}

TEST_CASE("fabric API: what is wrong in a request, or of another fabric, never gets there") {
  ServiceFixture fixture;
  BindRequest request = test_bind();
  request.attachment.node = "No Node";
  const auto refused = fixture.client.bind(request, soon());
  CHECK(refused.error().code() == Code::invalid);
  CHECK(refused.error().text().ends_with(
      "attachment.node: expected a name of lowercase letters, digits, - and ., got \"No Node\""));
  Client other = Client::over_unix(fixture.socket, "east");
  const auto elsewhere = other.health(soon());
  CHECK(elsewhere.error().code() == Code::not_found);
  CHECK(elsewhere.error().text().ends_with(
      "expected \"default\", the fabric of this service, got \"east\""));
  Client unnamed = Client::over_unix(fixture.socket, "");
  CHECK(unnamed.health(soon()));
  CHECK(fixture.fabric.calls() == 1);
}

TEST_CASE("fabric API: who names no fabric means the one called default, whichever is served") {
  ServiceSettings settings;
  settings.fabric = "rail-1";
  ServiceFixture fixture(settings);
  const auto refused = Client::over_unix(fixture.socket, "").health(soon());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::not_found);
  CHECK(refused.error().text().ends_with(
      "expected \"rail-1\", the fabric of this service, got \"default\""));
  CHECK(Client::over_unix(fixture.socket, "rail-1").health(soon()));
}

// Adds an unknown field: number 15, type string.
std::string padded(const google::protobuf::MessageLite& message, size_t size) {
  v1::AttachmentId field;
  field.set_node(std::string(size, 'x'));
  std::string bytes = field.SerializeAsString();
  bytes.front() = 15 << 3 | 2;
  return message.SerializeAsString() + bytes;
}

TEST_CASE("fabric API: what waits is small, whatever else the client puts into it") {
  ServiceFixture fixture;
  const auto stub = v1::Fabric::NewStub(rpc::connect_unix(fixture.socket).value());
  for (const size_t size : {1u << 10, 1u << 20}) {
    CAPTURE(size);
    v1::BindRequest bind;
    REQUIRE(bind.ParseFromString(padded(to_message(test_bind()), size)));
    v1::UnbindRequest unbind;
    *unbind.mutable_attachment() = to_message(test_attachment());
    REQUIRE(unbind.ParseFromString(padded(unbind, size)));
    v1::ForgetNodeRequest forget;
    forget.set_node("n7");
    REQUIRE(forget.ParseFromString(padded(forget, size)));
    const auto taken = [&](const auto& answer) {
      if (answer) return true;
      CHECK(answer.error().code() == Code::invalid);
      CHECK(answer.error().text().starts_with("request: expected at most 65536 bytes, got 10"));
      return false;
    };
    using Stub = v1::Fabric::Stub;
    CHECK(taken(rpc::ask(*stub, &Stub::Bind, bind, soon())) == (size < 65536));
    CHECK(taken(rpc::ask(*stub, &Stub::Unbind, unbind, soon())) == (size < 65536));
    CHECK(taken(rpc::ask(*stub, &Stub::ForgetNode, forget, soon())) == (size < 65536));
  }
  CHECK(fixture.fabric.calls() == 3);
}

TEST_CASE("fabric API: an unknown caller is denied before anything else is checked") {
  ServiceFixture fixture({}, [](const rpc::Peer&) -> Result<Caller> {
    return Error(Code::denied, "no rule is for you");
  });
  CHECK(fixture.client.health(soon()).error().code() == Code::denied);
  CHECK(Client::over_unix(fixture.socket, "x").bind({}, soon()).error().code() == Code::denied);
  const auto watched = fixture.client.watch_bindings(
      {}, [](const BindingChange&) { return true; }, soon());
  CHECK(watched.error().code() == Code::denied);
  CHECK(fixture.fabric.calls() == 0);
}

TEST_CASE("fabric API: the deadline is a little before the client's") {
  ServiceSettings settings;
  settings.longest = Duration(300'000);
  ServiceFixture fixture(settings);
  REQUIRE(fixture.client.bind(test_bind(), Deadline::in(Duration(100'000))));
  CHECK(fixture.fabric.last_requests().left <= Duration(99'500));
  CHECK(fixture.fabric.last_requests().left > Duration(0));
  REQUIRE(fixture.client.unbind(test_attachment(), Deadline::in(Duration(900'000))));
  CHECK(fixture.fabric.last_requests().left <= Duration(300'000));
  REQUIRE(fixture.client.forget_node({"n7"}, Deadline::in(Duration(100'000))));
  CHECK(fixture.fabric.last_requests().left <= Duration(99'500));
}

TEST_CASE("fabric API: a caller that is gone loses only its own answer") {
  ServiceFixture fixture;
  fixture.fabric.acts(TestFabric::Behavior::keeps);
  REQUIRE(goes_before_the_answer(fixture.fabric, [&](Deadline deadline) {
    return fixture.client.bind(test_bind(), deadline);
  }));
  fixture.fabric.release();
  fixture.fabric.acts(TestFabric::Behavior::answers);
  CHECK(fixture.client.bind(test_bind(), soon()));
}

TEST_CASE("fabric API: a call that the fabric drops is answered all the same") {
  ServiceFixture fixture;
  fixture.fabric.acts(TestFabric::Behavior::drops);
  CHECK(fixture.client.bind(test_bind(), soon()).error().code() == Code::internal);
  CHECK(fixture.client.health(soon()).error().code() == Code::internal);
}

TEST_CASE("fabric API: a server stops during a call, and the call may end after it") {
  ServiceFixture fixture;
  fixture.fabric.acts(TestFabric::Behavior::keeps);
  auto waits =
      std::async(std::launch::async, [&] { return fixture.client.bind(test_bind(), soon()); });
  REQUIRE(in_time([&] { return fixture.fabric.kept() == 1; }));
  fixture.server->stop(Duration(0));
  CHECK(waits.get().error().code() == Code::unavailable);
  fixture.server.reset();
  fixture.service.reset();
  fixture.fabric.release();
}

TEST_CASE("fabric API: too many calls at a time are refused at once, and a place becomes free") {
  ServiceSettings settings;
  settings.calls_of_one = 3;
  ServiceFixture fixture(settings);
  fixture.fabric.acts(TestFabric::Behavior::keeps);
  std::vector<std::future<Result<fabric::Binding>>> waiting;
  for (int i = 0; i < 3; ++i)
    waiting.push_back(
        std::async(std::launch::async, [&] { return fixture.client.bind(test_bind(), soon()); }));
  REQUIRE(in_time([&] { return fixture.fabric.kept() == 3; }));
  const auto refused = fixture.client.health(soon());
  CHECK(refused.error().code() == Code::unavailable);
  CHECK(refused.error().text().ends_with(
      "root: limit of calls in progress reached (3); try again later"));
  fixture.fabric.acts(TestFabric::Behavior::answers);
  fixture.fabric.release();
  for (auto& one : waiting) CHECK(one.get());
  CHECK(fixture.client.health(soon()));
}

TEST_CASE("fabric API: a call whose client has gone keeps its place until the fabric is done") {
  ServiceSettings settings;
  settings.calls = 1;
  ServiceFixture fixture(settings);
  fixture.fabric.acts(TestFabric::Behavior::keeps);
  REQUIRE(goes_before_the_answer(fixture.fabric, [&](Deadline deadline) {
    return fixture.client.bind(test_bind(), deadline);
  }));
  CHECK(in_time([&] { return fixture.fabric.last_requests().context.is_cancelled(); }));
  CHECK(fixture.client.health(soon()).error().text().ends_with(
      "limit of calls in progress of all callers reached (1); try again later"));
  fixture.fabric.release();
  fixture.fabric.acts(TestFabric::Behavior::answers);
  CHECK(fixture.client.health(soon()));
}

TEST_CASE("fabric API: in a flood every call is answered, by whatever thread") {
  ServiceFixture fixture;
  fixture.fabric.acts(TestFabric::Behavior::keeps);
  std::atomic<bool> over = false;
  std::thread answering([&] {
    while (!over) fixture.fabric.release();
  });
  std::vector<std::future<size_t>> floods;
  for (int i = 0; i < 8; ++i) {
    floods.push_back(std::async(std::launch::async, [&] {
      size_t answered = 0;
      for (int n = 0; n < 20; ++n) {
        if (fixture.client.bind(test_bind(), soon())) ++answered;
        // Some clients are gone before the answer.
        (void)fixture.client.health(Deadline::in(Duration(n % 3)));
      }
      return answered;
    }));
  }
  for (auto& flood : floods) CHECK(flood.get() == 20);
  over = true;
  answering.join();
}

}  // namespace
}  // namespace ibpod::sm::api
