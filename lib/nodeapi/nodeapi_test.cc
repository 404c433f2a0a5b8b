#include "lib/nodeapi/client.h"
#include "lib/nodeapi/service.h"
#include "lib/rpc/server.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>
#include <grpcpp/impl/codegen/service_type.h>

namespace ibpod::nodeapi {
namespace {

Device device() {
  Device device{"0000:3b:00.2", "0000:3b:00.0", "ib0", 1,          "mlx5_core",
                "openib/vfs",   true,           "",    "",         "",
                "ACTIVE",       "0:0x8001",     0,     {"mlx5_3"}, {"uverbs3"}};
  device.reason = "port DOWN";
  device.attachment = "c1:net1";
  device.port_guid = "02:00:00:00:00:00:00:01";
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
  Result<std::vector<Device>> devices(Deadline) override {
    Device without_numa = device();
    without_numa.numa.reset();
    return answer(std::vector{device(), without_numa});
  }
  Result<std::vector<Attachment>> attachments(Deadline) override {
    return answer(std::vector<Attachment>{{"ib-sriov", "blue", "c1", "net1", "lab", "pod", "uid",
                                           "0000:3b:00.2", "/run/netns/a", "0x8001", "unknown",
                                           "the kubelet did not answer"}});
  }
  Result<Explanation> explain(const std::string& name, Deadline) override {
    if (name != device().address) return Error(Code::not_found, "there is no " + name);
    return answer(Explanation{device(), {{"openib/vfs", true, ""}, {"openib/b", false, "rails"}}});
  }
  Result<Health> health(Deadline) override {
    return answer(Health{{{"rdma-netns-mode", "shared", "reboot"}}, true, true});
  }
  Result<Health> fresh_health(Deadline deadline) override {
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

TEST_CASE("node API: over the socket the answers are those of the node itself") {
  Fixture fixture;
  CHECK(fixture.client->devices(fixture.soon()).value() ==
        fixture.node.devices(fixture.soon()).value());
  CHECK(fixture.client->attachments(fixture.soon()).value() ==
        fixture.node.attachments(fixture.soon()).value());
  CHECK(fixture.client->explain("0000:3b:00.2", fixture.soon()).value() ==
        fixture.node.explain("0000:3b:00.2", fixture.soon()).value());
  CHECK(fixture.client->health(fixture.soon()).value() ==
        fixture.node.health(fixture.soon()).value());
  CHECK(fixture.client->device_of(kQuestion, fixture.soon()).value() == "0000:3b:00.2");
  CHECK(fixture.node.asked == kQuestion);
}

TEST_CASE("node API: the node is looked at where that is asked for, and else not") {
  Fixture fixture;
  CHECK(fixture.client->health(fixture.soon()));
  CHECK(fixture.node.looks == 0);
  CHECK(fixture.client->fresh_health(fixture.soon()).value() ==
        fixture.node.health(fixture.soon()).value());
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
