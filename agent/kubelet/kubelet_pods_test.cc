#include "agent/kubelet/kubelet_pods.h"

#include "tests/support/fake_kubelet.h"

#include <doctest/doctest.h>

namespace ibpod::agent::kubelet {
namespace {

const ib::PciAddress kDevice = ib::PciAddress::parse("0000:3b:00.2").value();

kube::PodDevices pod_with(const std::vector<std::string>& ids) {
  return {"a", "ns", {{"init", {}}, {"main", {{"example.com/x", {"0"}}, {"ib/vfs", ids}}}}};
}

TEST_CASE("a pod's device is one that any of its containers was given, of whatever resource") {
  CHECK(has_device(pod_with({"0000:3b:00.1", "0000:3b:00.2"}), kDevice));
  CHECK(has_device(pod_with({"0000:3B:00.2"}), kDevice));
}

TEST_CASE("what a pod was not given, or only resembles it, is not its device") {
  CHECK_FALSE(has_device(pod_with({}), kDevice));
  CHECK_FALSE(has_device(pod_with({"0000:3b:00.1"}), kDevice));
  CHECK_FALSE(has_device(pod_with({"0000:3b:00.2-7", "x0000:3b:00.2", ""}), kDevice));
}

TEST_CASE("the ids of a resource are those of all containers, and no other resource's") {
  kube::PodDevices pod = pod_with({"0000:3b:00.1"});
  pod.containers.push_back({"side", {{"ib/vfs", {"0000:3b:00.3"}}}});
  CHECK(device_ids_of(pod, "ib/vfs") == std::vector<std::string>{"0000:3b:00.1", "0000:3b:00.3"});
  CHECK(device_ids_of(pod, "ib/none").empty());
}

TEST_CASE("of a pod that the kubelet does not name nothing is known yet") {
  FakeKubelet kubelet(true);
  const kube::PodResources asked(kubelet.pod_resources());
  const auto ask = [&](const std::string& name_space, const std::string& name) {
    return find_pod(asked, name_space, name, Deadline::in(Duration(20'000)));
  };
  CHECK(ask("ns", "a").error().code() == Code::unavailable);
  ::v1::ListPodResourcesResponse pods;
  auto& named = *pods.add_pod_resources();
  named.set_name("a");
  named.set_namespace_("ns");
  kubelet.set_pods(pods);
  CHECK(ask("ns", "a").value().name == "a");
  CHECK(ask("other", "a").error().code() == Code::unavailable);
  CHECK(ask("ns", "b").error().text().find("does not list the pod ns/b yet") != std::string::npos);
}

TEST_CASE("the pod of a device is found, and none if no pod was given it") {
  FakeKubelet kubelet(true);
  ::v1::ListPodResourcesResponse pods;
  auto& pod = *pods.add_pod_resources();
  pod.set_name("a");
  pod.set_namespace_("team");
  auto& devices = *pod.add_containers()->add_devices();
  devices.set_resource_name("other.com/vfs");
  devices.add_device_ids("0000:3b:00.2");
  kubelet.set_pods(pods);
  const kube::PodResources asked(kubelet.pod_resources());
  const auto current = pod_finder(asked, Duration(0));
  const auto kept = pod_finder(asked, std::chrono::hours(1));
  CHECK(current(kDevice).value() == "team/a");
  CHECK(kept(kDevice).value() == "team/a");
  CHECK_FALSE(current(ib::PciAddress::parse("0000:3b:00.3").value()).value());
  pods.mutable_pod_resources(0)->clear_containers();
  kubelet.set_pods(pods);
  CHECK_FALSE(current(kDevice).value());
  CHECK(kept(kDevice).value() == "team/a");
}

TEST_CASE("a kubelet that lists no pods says nothing of a device, and is not asked again") {
  FakeKubelet kubelet(true);
  const auto pod_of = pod_finder(kube::PodResources(kubelet.pod_resources()), Duration(0));
  CHECK(pod_of(kDevice).error().text() == "the kubelet does not list any pods yet");
  ::v1::ListPodResourcesResponse pods;
  pods.add_pod_resources()->set_name("a");
  kubelet.set_pods(pods);
  CHECK(pod_of(kDevice).error().code() == Code::unavailable);
  CHECK_FALSE(pod_finder(kube::PodResources(kubelet.pod_resources()))(kDevice).value().has_value());
}

}  // namespace
}  // namespace ibpod::agent::kubelet
