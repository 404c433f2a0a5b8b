#include "api/ibpod/v1/fabric.grpc.pb.h"
#include "lib/fabricapi/messages.h"
#include "lib/fabricapi/test_service.h"
#include "lib/rpc/channel.h"

#include <future>

#include <doctest/doctest.h>

namespace ibpod::fabricapi {
namespace {

TEST_CASE("fabric API: partitions, there and back") {
  ServiceBed bed;
  CHECK(bed.client.create_partition(test_tenancy(), soon()).value() == test_status());
  CHECK(bed.fabric.asked().tenancy == test_tenancy());
  CHECK(bed.fabric.asked().caller == kRoot);
  fabric::Tenancy bare;
  bare.name = "red";
  CHECK(bed.client.update_partition(bare, soon()).value() == test_status());
  CHECK(bed.fabric.asked().tenancy == bare);
  CHECK(bed.client.delete_partition("blue", soon()).value() == test_status());
  CHECK(bed.fabric.asked().name == "blue");
  CHECK(bed.client.delete_partition("blue", soon(), true).value() == test_status());
  CHECK(bed.fabric.asked().name == "forgetting blue");
  const Listed<fabric::TenancyStatus> listed{{test_status()}, "next"};
  CHECK(bed.client.list_partitions({10, "token"}, soon()).value() == listed);
  CHECK(bed.fabric.asked().page == Page{10, "token"});
}

TEST_CASE("fabric API: bindings, there and back") {
  ServiceBed bed;
  CHECK(bed.client.bind(test_bind(), soon()).value() == test_binding());
  CHECK(bed.fabric.asked().bound == test_bind());
  CHECK(bed.client.unbind(test_attachment(), soon()).value() == test_binding());
  CHECK(bed.fabric.asked().attachment == test_attachment());
  CHECK(bed.client.get_binding(test_attachment(), soon()).value() == test_binding());
  const Listed<fabric::Binding> listed{{test_binding()}, "next"};
  CHECK(bed.client.list_bindings(test_filter(), {5, "t"}, soon()).value() == listed);
  CHECK(bed.fabric.asked().filter == test_filter());
  CHECK(bed.client.list_bindings({}, {}, soon()).value() == listed);
  CHECK(bed.fabric.asked().filter == BindingFilter());
}

TEST_CASE("fabric API: nodes, there and back") {
  ServiceBed bed;
  CHECK(bed.client.sync(test_sync(), soon()).value() == test_sync_answer());
  CHECK(bed.fabric.asked().synced == test_sync());
  CHECK(bed.client.observe(test_observe(), soon()).value() == test_observe_answer());
  CHECK(bed.fabric.asked().observed == test_observe());
  CHECK(bed.client.allocate_guids(test_allocate(), soon()).value() == test_allocated());
  CHECK(bed.fabric.asked().allocated == test_allocate());
  CHECK(bed.client.list_nodes(soon()).value() == test_nodes());
  CHECK(bed.client.forget_node({"n7"}, soon()).value() == test_nodes().front());
  CHECK(bed.fabric.asked().forgotten == ForgetRequest{"n7", false});
  REQUIRE(bed.client.forget_node({"n7", true}, soon()));
  CHECK(bed.fabric.asked().forgotten == ForgetRequest{"n7", true});
}

TEST_CASE("fabric API: what is for people, there and back") {
  ServiceBed bed;
  CHECK(bed.client.plan(test_plan(), soon()).value() == test_plan_answer());
  CHECK(bed.fabric.asked().planned == test_plan());
  CHECK(bed.client.plan({std::nullopt, "blue"}, soon()));
  CHECK(bed.fabric.asked().planned == PlanRequest{std::nullopt, "blue"});
  CHECK(bed.client.plan({}, soon()));
  CHECK(bed.client.explain(test_explain(), soon()).value() == test_explanation());
  CHECK(bed.fabric.asked().explained == test_explain());
  CHECK(bed.client.health(soon()).value() == test_health());
}

TEST_CASE("fabric API: errors keep their code and say who answered") {
  ServiceBed bed;
  for (const Code code : {Code::invalid, Code::not_found, Code::exists, Code::busy,
                          Code::unsupported, Code::denied, Code::unavailable, Code::internal}) {
    bed.fabric.fails(Error(code, "why"));
    const auto refused = bed.client.bind(test_bind(), soon());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == code);
    CHECK(refused.error().text() == "ibpod-sm at " + bed.socket.string() + ": why");
  }
}

TEST_CASE("fabric API: what is wrong in a request, or of another fabric, never gets there") {
  ServiceBed bed;
  BindRequest request = test_bind();
  request.attachment.node = "No Node";
  const auto refused = bed.client.bind(request, soon());
  CHECK(refused.error().code() == Code::invalid);
  CHECK(refused.error().text().ends_with(
      "attachment.node: expected a name of small letters, digits, - and ., got \"No Node\""));
  Client other = Client::over_unix(bed.socket, "east");
  const auto elsewhere = other.health(soon());
  CHECK(elsewhere.error().code() == Code::not_found);
  CHECK(elsewhere.error().text().ends_with(
      "expected \"default\", the one served here, got \"east\""));
  Client unnamed = Client::over_unix(bed.socket, "");
  CHECK(unnamed.health(soon()));
  CHECK(bed.fabric.calls() == 1);
}

TEST_CASE("fabric API: who names no fabric means the one called default, whichever is served") {
  ServiceSettings settings;
  settings.fabric = "rail-1";
  ServiceBed bed(settings);
  const auto refused = Client::over_unix(bed.socket, "").health(soon());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::not_found);
  CHECK(refused.error().text().ends_with(
      "expected \"rail-1\", the one served here, got \"default\""));
  CHECK(Client::over_unix(bed.socket, "rail-1").health(soon()));
}

// With a field that nobody knows: its number is 15, its type a text.
std::string padded(const google::protobuf::MessageLite& message, size_t size) {
  v1::AttachmentId field;
  field.set_node(std::string(size, 'x'));
  std::string bytes = field.SerializeAsString();
  bytes.front() = 15 << 3 | 2;
  return message.SerializeAsString() + bytes;
}

TEST_CASE("fabric API: what waits is small, whatever else the client puts into it") {
  ServiceBed bed;
  const auto stub = v1::Fabric::NewStub(rpc::connect_unix(bed.socket).value());
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
  CHECK(bed.fabric.calls() == 3);
}

TEST_CASE("fabric API: whom nobody knows is denied before anything else is looked at") {
  ServiceBed bed({}, [](const rpc::Peer&) -> Result<Caller> {
    return Error(Code::denied, "no rule is for you");
  });
  CHECK(bed.client.health(soon()).error().code() == Code::denied);
  CHECK(Client::over_unix(bed.socket, "x").bind({}, soon()).error().code() == Code::denied);
  const auto watched = bed.client.watch_bindings(
      {}, [](const BindingChange&) { return true; }, soon());
  CHECK(watched.error().code() == Code::denied);
  CHECK(bed.fabric.calls() == 0);
}

TEST_CASE("fabric API: the deadline is a little before the client's") {
  ServiceSettings settings;
  settings.longest = Duration(300'000);
  ServiceBed bed(settings);
  REQUIRE(bed.client.bind(test_bind(), Deadline::in(Duration(100'000))));
  CHECK(bed.fabric.asked().left <= Duration(99'500));
  CHECK(bed.fabric.asked().left > Duration(0));
  REQUIRE(bed.client.unbind(test_attachment(), Deadline::in(Duration(900'000))));
  CHECK(bed.fabric.asked().left <= Duration(300'000));
  REQUIRE(bed.client.forget_node({"n7"}, Deadline::in(Duration(100'000))));
  CHECK(bed.fabric.asked().left <= Duration(99'500));
}

TEST_CASE("fabric API: who is answered late is gone, and nothing is lost but his answer") {
  ServiceBed bed;
  bed.fabric.acts(TestFabric::Manner::keeps);
  REQUIRE(goes_before_the_answer(
      bed.fabric, [&](Deadline deadline) { return bed.client.bind(test_bind(), deadline); }));
  bed.fabric.release();
  bed.fabric.acts(TestFabric::Manner::answers);
  CHECK(bed.client.bind(test_bind(), soon()));
}

TEST_CASE("fabric API: a call that the fabric drops is answered all the same") {
  ServiceBed bed;
  bed.fabric.acts(TestFabric::Manner::drops);
  CHECK(bed.client.bind(test_bind(), soon()).error().code() == Code::internal);
  CHECK(bed.client.health(soon()).error().code() == Code::internal);
}

TEST_CASE("fabric API: the server's end is no call's hindrance, nor the other way round") {
  ServiceBed bed;
  bed.fabric.acts(TestFabric::Manner::keeps);
  auto waits = std::async(std::launch::async, [&] { return bed.client.bind(test_bind(), soon()); });
  REQUIRE(in_time([&] { return bed.fabric.kept() == 1; }));
  bed.server->stop(Duration(0));
  CHECK(waits.get().error().code() == Code::unavailable);
  bed.server.reset();
  bed.service.reset();
  bed.fabric.release();
}

TEST_CASE("fabric API: too many calls at a time are refused at once, and a place becomes free") {
  ServiceSettings settings;
  settings.calls_of_one = 3;
  ServiceBed bed(settings);
  bed.fabric.acts(TestFabric::Manner::keeps);
  std::vector<std::future<Result<fabric::Binding>>> waiting;
  for (int i = 0; i < 3; ++i)
    waiting.push_back(
        std::async(std::launch::async, [&] { return bed.client.bind(test_bind(), soon()); }));
  REQUIRE(in_time([&] { return bed.fabric.kept() == 3; }));
  const auto refused = bed.client.health(soon());
  CHECK(refused.error().code() == Code::unavailable);
  CHECK(refused.error().text().ends_with("root has 3 calls in progress, which is the most"));
  bed.fabric.acts(TestFabric::Manner::answers);
  bed.fabric.release();
  for (auto& one : waiting) CHECK(one.get());
  CHECK(bed.client.health(soon()));
}

TEST_CASE("fabric API: a call whose client has gone keeps its place until the fabric is done") {
  ServiceSettings settings;
  settings.calls = 1;
  ServiceBed bed(settings);
  bed.fabric.acts(TestFabric::Manner::keeps);
  REQUIRE(goes_before_the_answer(
      bed.fabric, [&](Deadline deadline) { return bed.client.bind(test_bind(), deadline); }));
  CHECK(in_time([&] { return bed.fabric.asked().patience.gone(); }));
  CHECK(bed.client.health(soon()).error().text().ends_with(
      "1 calls are in progress, which is the most"));
  bed.fabric.release();
  bed.fabric.acts(TestFabric::Manner::answers);
  CHECK(bed.client.health(soon()));
}

TEST_CASE("fabric API: in a flood every call is answered, by whatever thread") {
  ServiceBed bed;
  bed.fabric.acts(TestFabric::Manner::keeps);
  std::atomic<bool> over = false;
  std::thread answering([&] {
    while (!over) bed.fabric.release();
  });
  std::vector<std::future<size_t>> floods;
  for (int i = 0; i < 8; ++i) {
    floods.push_back(std::async(std::launch::async, [&] {
      size_t answered = 0;
      for (int n = 0; n < 20; ++n) {
        if (bed.client.bind(test_bind(), soon())) ++answered;
        // Some go before they are answered.
        (void)bed.client.health(Deadline::in(Duration(n % 3)));
      }
      return answered;
    }));
  }
  for (auto& flood : floods) CHECK(flood.get() == 20);
  over = true;
  answering.join();
}

}  // namespace
}  // namespace ibpod::fabricapi
