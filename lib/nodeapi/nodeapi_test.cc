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
struct Told : Node {
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
  Result<Health> health_by_look(Deadline deadline) override {
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
const Duration kPatience{20'000};

struct Bed {
  TempFolder folder;
  Told told;
  std::unique_ptr<grpc::Service> service = serve(told);
  std::unique_ptr<rpc::Server> server =
      rpc::Server::serve(folder.path() / "agent.sock", {service.get()}).value();
  std::unique_ptr<Node> client = connect(folder.path() / "agent.sock");
  Deadline soon() const { return Deadline::in(kPatience); }
};

TEST_CASE("node API: over the socket the answers are those of the node itself") {
  Bed bed;
  CHECK(bed.client->devices(bed.soon()).value() == bed.told.devices(bed.soon()).value());
  CHECK(bed.client->attachments(bed.soon()).value() == bed.told.attachments(bed.soon()).value());
  CHECK(bed.client->explain("0000:3b:00.2", bed.soon()).value() ==
        bed.told.explain("0000:3b:00.2", bed.soon()).value());
  CHECK(bed.client->health(bed.soon()).value() == bed.told.health(bed.soon()).value());
  CHECK(bed.client->device_of(kQuestion, bed.soon()).value() == "0000:3b:00.2");
  CHECK(bed.told.asked == kQuestion);
}

TEST_CASE("node API: the node is looked at where that is asked for, and else not") {
  Bed bed;
  CHECK(bed.client->health(bed.soon()));
  CHECK(bed.told.looks == 0);
  CHECK(bed.client->health_by_look(bed.soon()).value() == bed.told.health(bed.soon()).value());
  CHECK(bed.told.looks == 1);
}

TEST_CASE("node API: what becomes of a binding is told, in time for whoever waits") {
  Bed bed;
  const AttachmentName name{"c1", "net1", "5eed"};
  const Duration patience{10'000};
  CHECK(bed.client->bind(name, Node::Wait::verified, Deadline::in(patience)).value() ==
        bed.told.bound);
  CHECK(bed.told.named == name);
  CHECK(bed.told.waits == Node::Wait::verified);
  CHECK(bed.told.left < patience - Duration(400));
  REQUIRE(bed.client->bind(name, Node::Wait::no, bed.soon()));
  CHECK(bed.told.waits == Node::Wait::no);
  REQUIRE(bed.client->bind(name, Node::Wait::granted, bed.soon()));
  CHECK(bed.told.waits == Node::Wait::granted);
  bed.told.named = {};
  const auto unbound = bed.client->unbind(name, Deadline::in(patience));
  REQUIRE(unbound);
  CHECK(unbound->text == "the port does not answer");
  CHECK_FALSE(unbound->released());
  CHECK(bed.told.named == name);
}

TEST_CASE("node API: errors keep their code, and say who answered") {
  Bed bed;
  bed.told.error = Error(Code::unavailable, "the kubelet did not answer");
  const auto refused = bed.client->device_of(kQuestion, bed.soon());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::unavailable);
  CHECK(refused.error().text().starts_with("the node's agent at "));
  CHECK(refused.error().text().ends_with(": the kubelet did not answer"));
  bed.told.error.reset();
  CHECK(bed.client->explain("0000:3b:00.9", bed.soon()).error().code() == Code::not_found);
}

TEST_CASE("node API: the client's deadline is the node's") {
  Bed bed;
  REQUIRE(bed.client->device_of(kQuestion, Deadline::in(Duration(9'000))));
  CHECK(bed.told.left <= Duration(9'000));
}

TEST_CASE("node API: no agent, then one, then none, then another: each question finds its answer") {
  const TempFolder folder;
  const Path socket = folder.path() / "agent.sock";
  const std::unique_ptr<Node> client = connect(socket);
  Told told;
  for (int i = 0; i < 2; ++i) {
    const Error away = client->health(Deadline::in(kPatience)).error();
    CHECK(away.code() == Code::unavailable);
    CHECK(away.error_number() == ENOENT);
    const std::unique_ptr<grpc::Service> service = serve(told);
    const auto server = rpc::Server::serve(socket, {service.get()}).value();
    CHECK(client->health(Deadline::in(kPatience)).ok());
  }
}

}  // namespace
}  // namespace ibpod::nodeapi
