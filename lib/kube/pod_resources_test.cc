#include "lib/kube/pod_resources.h"

#include "tests/support/fake_kubelet.h"

#include <doctest/doctest.h>

namespace ibpod::kube {
namespace {

Deadline soon() { return Deadline::in(Duration(20'000)); }

::v1::ListPodResourcesResponse one_pod() {
  ::v1::ListPodResourcesResponse pods;
  ::v1::PodResources& pod = *pods.add_pod_resources();
  pod.set_name("trainer");
  pod.set_namespace_("team");
  ::v1::ContainerResources& container = *pod.add_containers();
  container.set_name("main");
  ::v1::ContainerDevices& devices = *container.add_devices();
  devices.set_resource_name("example.com/ib_vf");
  devices.add_device_ids("0000:3b:00.1");
  devices.add_device_ids("0000:3b:00.2");
  return pods;
}

const PodDevices kTrainer{
    "trainer", "team", {{"main", {{"example.com/ib_vf", {"0000:3b:00.1", "0000:3b:00.2"}}}}}};

TEST_CASE("pods are listed with the devices of their containers") {
  FakeKubelet kubelet(false);
  kubelet.set_pods(one_pod());
  const PodResources resources(kubelet.pod_resources());
  const auto pods = resources.list(soon()).value();
  REQUIRE(pods);
  CHECK(*pods == std::vector<PodDevices>{kTrainer});
}

TEST_CASE("a kubelet that names no pod has not answered") {
  FakeKubelet kubelet(false);
  const PodResources resources(kubelet.pod_resources());
  const auto pods = resources.list(soon());
  REQUIRE(pods);
  CHECK_FALSE(*pods);
}

TEST_CASE("a refusal and a kubelet that is away are errors") {
  FakeKubelet kubelet(false);
  kubelet.set_pods(one_pod());
  const PodResources resources(kubelet.pod_resources());
  kubelet.refuse_pods({grpc::StatusCode::RESOURCE_EXHAUSTED, "rejected by rate limit"});
  const auto refused = resources.list(soon());
  CHECK(refused.error().code() == Code::unavailable);
  CHECK(refused.error().text() == "list pod resources: rejected by rate limit");
  kubelet.refuse_pods(grpc::Status::OK);
  kubelet.stop();
  CHECK_FALSE(resources.list(soon()));
  kubelet.start();
  CHECK(resources.list(soon()).value());
}

TEST_CASE("a list of more than 4 MiB is read, one of more than 16 is an error") {
  FakeKubelet kubelet(false);
  const PodResources resources(kubelet.pod_resources());
  ::v1::ListPodResourcesResponse pods = one_pod();
  pods.mutable_pod_resources(0)->mutable_containers(0)->set_name(std::string(5 << 20, 'x'));
  kubelet.set_pods(pods);
  CHECK(resources.list(soon()).value());
  pods.mutable_pod_resources(0)->mutable_containers(0)->set_name(std::string(17 << 20, 'x'));
  kubelet.set_pods(pods);
  CHECK_FALSE(resources.list(soon()));
}

}  // namespace
}  // namespace ibpod::kube
