#include "lib/nodeapi/client.h"
#include "lib/nodeapi/service.h"
#include "lib/rpc/server.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>
#include <grpcpp/impl/codegen/service_type.h>

namespace ibpod::nodeapi {
namespace {

v1::Device device() {
  v1::Device device;
  device.set_address("0000:3b:00.2");
  device.set_pf_name("ib0");
  device.set_numa(0);
  device.add_rdma("mlx5_3");
  return device;
}

// Answers what it is told to, and keeps what it was asked.
struct RecordingNode : Node {
  std::optional<Error> error;
  DeviceQuestion asked;
  AttachmentName named;
  Wait waits = Wait::no;
  Binding bound{"verified", "none", "", {ib::PKey(0x8001), ib::PKey(0x0002)}, "port", "leaf", true};
  Duration left{0};
  int looks = 0;

  template <typename T>
  Result<T> answer(T value) const {
    if (error) return *error;
    return value;
  }
  Result<v1::ListDevicesResponse> devices(Deadline) override {
    v1::ListDevicesResponse listed;
    *listed.add_devices() = device();
    *listed.add_devices() = device();
    listed.mutable_devices(1)->clear_numa();
    return answer(listed);
  }
  Result<v1::ListAttachmentsResponse> attachments(Deadline) override {
    v1::ListAttachmentsResponse listed;
    listed.add_attachments()->set_container_id("c1");
    return answer(listed);
  }
  Result<v1::ExplainResponse> explain(const std::string& name, Deadline) override {
    if (name != device().address()) return Error(Code::not_found, "there is no " + name);
    v1::ExplainResponse explanation;
    *explanation.mutable_device() = device();
    explanation.add_pools()->set_resource("openib/vfs");
    return answer(explanation);
  }
  Result<v1::HealthResponse> health(Deadline) override {
    v1::HealthResponse health;
    health.add_findings()->set_subject("rdma-netns-mode");
    health.set_binds(true);
    return answer(health);
  }
  Result<v1::HealthResponse> fresh_health(Deadline deadline) override {
    ++looks;
    return health(deadline);
  }
  Result<std::string> device_of(const DeviceQuestion& question, Deadline deadline) override {
    asked = question;
    left = deadline.left();
    return answer(std::string("0000:3b:00.2"));
  }
  Result<Binding> bind(const AttachmentName& name, Wait wait, Deadline deadline) override {
    named = name;
    waits = wait;
    left = deadline.left();
    return answer(bound);
  }
  Result<Binding> unbind(const AttachmentName& name, Deadline deadline) override {
    named = name;
    left = deadline.left();
    return answer(Binding{"releasing", "timeout", "the port does not answer", {}, "", ""});
  }
};

const DeviceQuestion kQuestion{"lab", "pod", "openib/vfs", "c1", "net1", "0000:3b:00.2"};
const Duration kBindTimeout{20'000};

struct Fixture {
  TempFolder folder;
  RecordingNode node;
  std::unique_ptr<grpc::Service> service = serve(node);
  std::unique_ptr<rpc::Server> server =
      rpc::Server::serve(folder.path() / "agent.sock", {service.get()}).value();
  std::unique_ptr<Node> client = connect(folder.path() / "agent.sock");
  Deadline soon() const { return Deadline::in(kBindTimeout); }
};

template <typename Message>
bool same(const Result<Message>& one, const Result<Message>& other) {
  return one.value().SerializeAsString() == other.value().SerializeAsString();
}

TEST_CASE("node API: over the socket the answers are those of the node itself") {
  Fixture fixture;
  const Deadline soon = fixture.soon();
  CHECK(same(fixture.client->devices(soon), fixture.node.devices(soon)));
  CHECK(same(fixture.client->attachments(soon), fixture.node.attachments(soon)));
  CHECK(same(fixture.client->explain("0000:3b:00.2", soon),
             fixture.node.explain("0000:3b:00.2", soon)));
  CHECK(same(fixture.client->health(soon), fixture.node.health(soon)));
  CHECK(fixture.client->device_of(kQuestion, fixture.soon()).value() == "0000:3b:00.2");
  CHECK(fixture.node.asked == kQuestion);
}

TEST_CASE("node API: the node is looked at where that is asked for, and else not") {
  Fixture fixture;
  CHECK(fixture.client->health(fixture.soon()));
  CHECK(fixture.node.looks == 0);
  CHECK(same(fixture.client->fresh_health(fixture.soon()), fixture.node.health(fixture.soon())));
  CHECK(fixture.node.looks == 1);
}

TEST_CASE("node API: a client that waits gets the state of a binding before its deadline") {
  Fixture fixture;
  const AttachmentName name{"c1", "net1", "5eed"};
  const Duration timeout{10'000};
  CHECK(fixture.client->bind(name, Node::Wait::verified, Deadline::in(timeout)).value() ==
        fixture.node.bound);
  CHECK(fixture.node.named == name);
  CHECK(fixture.node.waits == Node::Wait::verified);
  CHECK(fixture.node.left < timeout - Duration(400));
  REQUIRE(fixture.client->bind(name, Node::Wait::no, fixture.soon()));
  CHECK(fixture.node.waits == Node::Wait::no);
  REQUIRE(fixture.client->bind(name, Node::Wait::granted, fixture.soon()));
  CHECK(fixture.node.waits == Node::Wait::granted);
  fixture.node.named = {};
  const auto unbound = fixture.client->unbind(name, Deadline::in(timeout));
  REQUIRE(unbound);
  CHECK(unbound->text == "the port does not answer");
  CHECK_FALSE(unbound->released());
  CHECK(fixture.node.named == name);
}

TEST_CASE("node API: errors keep their code, and say who answered") {
  Fixture fixture;
  fixture.node.error = Error(Code::unavailable, "the kubelet did not answer");
  const auto refused = fixture.client->device_of(kQuestion, fixture.soon());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::unavailable);
  CHECK(refused.error().text().starts_with("the node's agent at "));
  CHECK(refused.error().text().ends_with(": the kubelet did not answer"));
  fixture.node.error.reset();
  CHECK(fixture.client->explain("0000:3b:00.9", fixture.soon()).error().code() == Code::not_found);
}

TEST_CASE("node API: the client's deadline is the node's") {
  Fixture fixture;
  REQUIRE(fixture.client->device_of(kQuestion, Deadline::in(Duration(9'000))));
  CHECK(fixture.node.left <= Duration(9'000));
}

TEST_CASE("node API: no agent, then one, then none, then another: each question finds its answer") {
  const TempFolder folder;
  const Path socket = folder.path() / "agent.sock";
  const std::unique_ptr<Node> client = connect(socket);
  RecordingNode told;
  for (int i = 0; i < 2; ++i) {
    const Error away = client->health(Deadline::in(kBindTimeout)).error();
    CHECK(away.code() == Code::unavailable);
    CHECK(away.error_number() == ENOENT);
    const std::unique_ptr<grpc::Service> service = serve(told);
    const auto server = rpc::Server::serve(socket, {service.get()}).value();
    CHECK(client->health(Deadline::in(kBindTimeout)).ok());
  }
}

}  // namespace
}  // namespace ibpod::nodeapi
