#include "lib/attach/agent_client.h"

#include "tests/support/attach_fixture.h"

#include <cerrno>

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

const std::string kPodName = "lab/pod";

struct AllocatedFixture {
  Fixture fixture;
  fake::FakeAgent agent;
  bool needs_agent = true, any_device = false;

  AllocatedFixture() {
    agent.kubelet = true;
    fixture.call.pod.name_space = "lab";
    fixture.call.pod.name = "pod";
  }
  Status check(const ib::PciAddress& device) {
    fixture.connect = [this] { return std::make_unique<fake::FakeAgent>(agent); };
    fixture.needs_agent = needs_agent;
    fixture.settings.any_device = any_device;
    return check_allocated(fixture.context(), "deviceID", device, std::string(kDeviceAdvice),
                           Deadline::in(Duration(20'000)));
  }
};

TEST_CASE("a device that the kubelet gave the pod is the pod's, of whatever resource") {
  AllocatedFixture asked;
  asked.agent.given[{kPodName, "openib/vfs"}] = kVf.text();
  CHECK(asked.check(kVf));
  asked.needs_agent = false;
  CHECK(asked.check(kVf));
}

TEST_CASE("a device that the kubelet gave another pod, or no pod, is refused") {
  AllocatedFixture asked;
  SUBCASE("another pod") { asked.agent.given[{"lab/other", "openib/vfs"}] = kVf.text(); }
  SUBCASE("no pod") {}
  SUBCASE("another namespace") { asked.agent.given[{"red/pod", "openib/vfs"}] = kVf.text(); }
  SUBCASE("a node that also attaches without its agent") { asked.needs_agent = false; }
  const Status refused = asked.check(kVf);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::denied);
  CHECK(
      refused.error().text() ==
      "deviceID: " + kVf.text() +
          ": the kubelet has not allocated it to the pod lab/pod; request the device's resource in "
          "the pod's spec and leave deviceID to Multus, or set \"devices\": \"any\" in "
          "/etc/ibpod/cni.json");
}

TEST_CASE("a device that cannot be checked is accepted") {
  AllocatedFixture asked;
  SUBCASE("the node has no kubelet") { asked.agent.kubelet = false; }
  SUBCASE("the node allows any device") { asked.any_device = true; }
  SUBCASE("the node attaches without its agent, which is away") {
    asked.needs_agent = false;
    asked.agent.away = Error::from_errno(ECONNREFUSED, "connect").as(Code::unavailable);
  }
  CHECK(asked.check(kVf));
}

TEST_CASE("an agent that listens and cannot say is waited for, on every node") {
  AllocatedFixture asked;
  SUBCASE("on a node that needs it") {}
  SUBCASE("on one that attaches without it, too") { asked.needs_agent = false; }
  asked.agent.away = Error(Code::unavailable, "the kubelet does not name the pod yet");
  CHECK(asked.check(kVf).error().code() == Code::unavailable);
}

TEST_CASE("an agent that is absent is an error where nothing is attached without it") {
  AllocatedFixture asked;
  asked.agent.away = Error::from_errno(ENOENT, "connect").as(Code::unavailable);
  CHECK(asked.check(kVf).error().code() == Code::unavailable);
}

TEST_CASE("an older agent's empty answer says nothing of the device") {
  AllocatedFixture asked;
  asked.agent.answers_devices = false;
  const Status refused = asked.check(kVf);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::unavailable);
  CHECK(refused.error().text().ends_with("upgrade the agent"));
}

}  // namespace
}  // namespace ibpod::attach
