#include "tests/support/multus/multus.h"

#include "tests/support/fake_kubelet.h"
#include "tests/support/multus/test_cluster.h"

#include <doctest/doctest.h>

namespace ibpod::multus {
namespace {

constexpr const char* kPlain = R"({"cniVersion": "1.1.0", "type": "plugin"})";
constexpr const char* kCluster =
    R"("delegates": [{"cniVersion": "1.1.0", "name": "cluster", "type": "plugin"}])";

std::string text(const json::Value& object, const char* key) {
  const std::optional<json::Value> value = object.find(key);
  return value ? value->text() : "nothing";
}

::v1::ListPodResourcesResponse pods_with(const std::string& device) {
  ::v1::ListPodResourcesResponse pods;
  for (const char* name_space : {"team-b", "team-a"}) {
    ::v1::PodResources& pod = *pods.add_pod_resources();
    pod.set_name("p1");
    pod.set_namespace_(name_space);
    ::v1::ContainerDevices& given = *pod.add_containers()->add_devices();
    given.set_resource_name("ib/vf");
    given.add_device_ids(pod.namespace_() == "team-a" ? device : "0000:01:00.0");
  }
  return pods;
}

TEST_CASE("the cluster's network, then the pod's in their order; ended from the last one on") {
  Cluster cluster;
  cluster.network("blue", kPlain);
  cluster.network("red", kPlain);
  cluster.pod("blue, red@ib7, blue");
  const cni::Answer added = cluster.call("ADD", kCluster);
  CAPTURE(added.output);
  REQUIRE(added.exit_code == 0);
  CHECK(added.output.find(R"("name":"eth0")") != std::string::npos);
  CHECK(cluster.calls() == "ADD eth0, ADD net1, ADD ib7, ADD net3, ");
  CHECK(cluster.call("DEL", kCluster).exit_code == 0);
  CHECK(cluster.calls() == "DEL net3, DEL ib7, DEL net1, DEL eth0, ");
}

TEST_CASE("without a network of the cluster's the pod's are counted from net1, too") {
  Cluster cluster;
  cluster.network("blue", kPlain);
  cluster.pod("blue");
  CHECK(cluster.call("ADD").output.find(R"("name":"net1")") != std::string::npos);
  CHECK(cluster.calls() == "ADD net1, ");
  cluster.call("DEL");
  cluster.pod("");
  CHECK(cluster.call("ADD").exit_code == 0);
}

TEST_CASE("two devices through one network, and one through another: in order, each once") {
  Cluster cluster;
  cluster.network("blue", kPlain, "ib/rail_0");
  cluster.network("red", R"({"cniVersion": "1.0.0", "name": "r",
    "plugins": [{"type": "plugin"}, {"type": "plugin", "capabilities": {"deviceID": true}}]})",
                  "ib/rail_1");
  cluster.given(
      R"({"PodUID": "u0", "ResourceName": "ib/rail_0", "DeviceIDs": {"0": ["0000:01:00.7"]}},
    {"PodUID": "u1", "ResourceName": "ib/rail_0", "DeviceIDs": {"0": ["0000:01:00.2"]}},
    {"PodUID": "u1", "ResourceName": "ib/rail_0", "DeviceIDs": {"-1": ["0000:01:00.1"]}},
    {"PodUID": "u1", "ResourceName": "ib/rail_1", "DeviceIDs": {"0": ["0000:02:00.1"]}})");
  cluster.pod("blue,red,blue,blue");
  REQUIRE(cluster.call("ADD").exit_code == 0);
  const auto device = [&](const char* ifname) {
    return text(cluster.input("ADD", ifname), "deviceID");
  };
  CHECK(device("net1") == R"("0000:01:00.1")");
  CHECK(device("net2") == R"("0000:02:00.1")");
  CHECK(device("net3") == R"("0000:01:00.2")");
  CHECK(device("net4") == "nothing");
  CHECK(text(cluster.input("ADD", "net1"), "pciBusID") == R"("0000:01:00.1")");
  CHECK(text(cluster.input("ADD", "net1"), "runtimeConfig") == "nothing");
  // The last plugin of the list was given the first one's result.
  const json::Value last = cluster.input("ADD", "net2");
  CHECK(text(last, "name") == R"("r")");
  CHECK(text(last, "cniVersion") == R"("1.0.0")");
  CHECK(text(last, "runtimeConfig") == R"({"deviceID":"0000:02:00.1"})");
  CHECK(text(last, "prevResult") != "nothing");
  CHECK(cluster.calls() == "ADD net1, ADD net2, ADD net2, ADD net3, ADD net4, ");
  CHECK(cluster.call("DEL").exit_code == 0);
  CHECK(cluster.calls() == "DEL net4, DEL net3, DEL net2, DEL net2, DEL net1, ");
}

TEST_CASE("where the kubelet answers, its word counts and not its file") {
  Cluster cluster;
  FakeKubelet kubelet(true);
  cluster.kubelet = kubelet.root();
  cluster.network("blue", kPlain, "ib/vf");
  cluster.given(
      R"({"PodUID": "u1", "ResourceName": "ib/vf", "DeviceIDs": {"0": ["0000:01:00.9"]}})");
  cluster.pod("blue");
  kubelet.set_pods(pods_with("0000:01:00.3"));
  REQUIRE(cluster.call("ADD").exit_code == 0);
  CHECK(text(cluster.input("ADD", "net1"), "deviceID") == R"("0000:01:00.3")");
}

TEST_CASE("what the pod asks for reaches those that declare the capability; cni-args everybody") {
  Cluster cluster;
  cluster.network("blue",
                  R"({"cniVersion": "1.1.0", "type": "plugin", "runtimeConfig": {"mac": "own"},
    "capabilities": {"infinibandGUID": true, "ips": true, "mac": false},
    "args": {"cni": {"partition": "blue", "kept": 1}}})");
  cluster.network("deaf", kPlain);
  const std::string wishes = R"("mac": "02:00:00:00:00:01",
    "infiniband-guid": "02:00:00:00:00:00:00:07", "ips": ["10.7.0.9/24"],
    "cni-args": {"partition": "red", "new": {"a": 1}}})";
  cluster.pod(R"([{"name": "blue", )" + wishes + R"(, {"name": "deaf", )" + wishes + "]");
  REQUIRE(cluster.call("ADD", kCluster).exit_code == 0);
  CHECK(text(cluster.input("ADD", "net1"), "runtimeConfig") ==
        R"({"ips":["10.7.0.9/24"],"infinibandGUID":"02:00:00:00:00:00:00:07"})");
  CHECK(text(cluster.input("ADD", "net1"), "args") ==
        R"({"cni":{"partition":"red","kept":1,"new":{"a":1}}})");
  CHECK(text(cluster.input("ADD", "net2"), "runtimeConfig") == "nothing");
  CHECK(text(cluster.input("ADD", "net2"), "args") ==
        R"({"cni":{"partition":"red","new":{"a":1}}})");
  CHECK(text(cluster.input("ADD", "eth0"), "args") == "nothing");
  CHECK(cluster.read("args.net1") ==
        "IgnoreUnknown=true;K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=p1;K8S_POD_INFRA_CONTAINER_ID=;"
        "K8S_POD_UID=u1;IgnoreUnknown=1;K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=p1;K8S_POD_UID=u1;"
        "MAC=02:00:00:00:00:01;IP=10.7.0.9/24\n");
}

TEST_CASE("a network that fails ends the call: it and those before it get DEL") {
  Cluster cluster;
  cluster.network("blue", kPlain);
  cluster.pod("blue,blue,blue");
  cluster.write("broken.ADD.net2", "");
  const cni::Answer failed = cluster.call("ADD", kCluster);
  CHECK(failed.exit_code == 1);
  CHECK(failed.failure->code == kMultusError);
  CHECK(failed.failure->message ==
        "[team-a/p1/u1:blue]: error adding container to network \"blue\": "
        "plugin type=\"plugin\" name=\"blue\" failed (add): later; d");
  CHECK(cluster.calls() == "ADD eth0, ADD net1, ADD net2, DEL net2, DEL net1, DEL eth0, ");
  CHECK(cluster.call("DEL", kCluster).exit_code == 0);
  CHECK(cluster.calls() == "DEL net3, DEL net2, DEL net1, DEL eth0, ");
}

TEST_CASE("an interface that the pod has, a network that is not there: nothing is called") {
  Cluster cluster;
  cluster.pod("blue");
  CHECK(cluster.call("ADD").failure->message ==
        "there is no NetworkAttachmentDefinition team-a/blue");
  cluster.network("blue", kPlain);
  cluster.interfaces = {"net1"};
  CHECK(cluster.call("ADD").failure->message ==
        "[team-a/p1/u1:blue]: error adding container to network \"blue\": "
        "the pod has an interface net1");
  CHECK(cluster.calls() == "DEL net1, ");
}

TEST_CASE("a pod that is not there is a success with nothing in it; one of another UID is none") {
  Cluster cluster;
  const cni::Answer added = cluster.call("ADD", kCluster);
  CAPTURE(added.output);
  REQUIRE(added.exit_code == 0);
  CHECK(added.output.find(R"("address":"0.0.0.0/0")") != std::string::npos);
  CHECK(cluster.calls() == "");
  cluster.pod("");
  cluster.uid = "u2";
  CHECK(cluster.call("ADD", kCluster).failure->message ==
        "expected pod UID \"u2\" but got \"u1\" from Kube API");
}

TEST_CASE(
    "the default network that the pod names takes the cluster's place, without runtimeConfig") {
  Cluster cluster;
  const char* capable = R"({"cniVersion": "1.1.0", "type": "plugin",
    "capabilities": {"CNIDeviceInfoFile": true, "infinibandGUID": true, "deviceID": true}})";
  cluster.network("blue", capable, "ib/vf");
  cluster.given(
      R"({"PodUID": "u1", "ResourceName": "ib/vf", "DeviceIDs": {"0": ["0000:01:00.1", "0000:01:00.2"]}})");
  cluster.pod("blue", R"([{"name": "blue", "namespace": "team-a", "cni-args": {"guid": "g"},
    "infiniband-guid": "02:00:00:00:00:00:00:07"}])");
  REQUIRE(cluster.call("ADD", kCluster).exit_code == 0);
  CHECK(cluster.calls() == "ADD eth0, ADD net1, ");
  CHECK(text(cluster.input("ADD", "eth0"), "runtimeConfig") == "nothing");
  CHECK(text(cluster.input("ADD", "eth0"), "args") == R"({"cni":{"guid":"g"}})");
  // Both get the first device.
  CHECK(text(cluster.input("ADD", "eth0"), "deviceID") == R"("0000:01:00.1")");
  CHECK(text(cluster.input("ADD", "net1"), "deviceID") == R"("0000:01:00.1")");
  const json::Value first = cluster.status().elements()->front();
  CHECK(text(first, "name") == R"("team-a/blue")");
  CHECK(text(first, "default") == "true");
  CHECK(text(first, "device-info") == "nothing");
  CHECK(cluster.call("DEL", kCluster).exit_code == 0);
  CHECK(cluster.calls() == "DEL net1, DEL eth0, ");
  cluster.pod("", "blue");
  CHECK(cluster.call("ADD", kCluster).failure->message ==
        "there is no NetworkAttachmentDefinition kube-system/blue");
  cluster.pod("", "team-a/blue, team-a/blue");
  CHECK(cluster.call("ADD", kCluster).failure->code == kMultusError);
}

TEST_CASE("the container's id is among the arguments where the runtime says it") {
  Cluster cluster;
  cluster.network("blue", kPlain);
  cluster.pod("blue");
  cluster.more_arguments = ";K8S_POD_INFRA_CONTAINER_ID=c1";
  REQUIRE(cluster.call("ADD").exit_code == 0);
  CHECK(cluster.read("args.net1").find(";K8S_POD_INFRA_CONTAINER_ID=c1;K8S_POD_UID=") !=
        std::string::npos);
}

TEST_CASE("DEL goes by what was called, though network and pod are gone") {
  Cluster cluster;
  cluster.network("blue", kPlain, "ib/vf");
  cluster.given(
      R"({"PodUID": "u1", "ResourceName": "ib/vf", "DeviceIDs": {"0": ["0000:01:00.1"]}})");
  cluster.pod("blue");
  REQUIRE(cluster.call("ADD").exit_code == 0);
  cluster.calls();
  cluster.remove_network("blue");
  cluster.remove_pod();
  cluster.remove("kubelet/device-plugins/kubelet_internal_checkpoint");
  CHECK(cluster.call("DEL").exit_code == 0);
  CHECK(cluster.calls() == "DEL net1, ");
  CHECK(text(cluster.input("DEL", "net1"), "deviceID") == R"("0000:01:00.1")");
  const std::string previous = text(cluster.input("DEL", "net1"), "prevResult");
  CHECK(previous.find("10.7.0.1/24") != std::string::npos);
  CHECK(previous.find("ibpod") == std::string::npos);
  CHECK(cluster.call("DEL").exit_code == 0);
  CHECK(cluster.calls() == "");
}

TEST_CASE("DEL of which nothing is remembered goes by pod and network, and never fails") {
  Cluster cluster;
  cluster.network("blue", kPlain);
  cluster.pod("blue");
  CHECK(cluster.call("DEL").exit_code == 0);
  CHECK(cluster.calls() == "DEL net1, ");
  cluster.remove_network("blue");
  CHECK(cluster.call("DEL").exit_code == 0);
  cluster.write("cache/c1", "damaged");
  CHECK(cluster.call("DEL").exit_code == 0);
  CHECK(cluster.calls() == "");
}

TEST_CASE("a DEL that fails stops no other one, and is not tried again") {
  Cluster cluster;
  cluster.network("blue", kPlain);
  cluster.pod("blue,blue");
  REQUIRE(cluster.call("ADD").exit_code == 0);
  cluster.write("broken.DEL.net2", "");
  cluster.calls();
  CHECK(cluster.call("DEL").exit_code == 1);
  CHECK(cluster.calls() == "DEL net2, DEL net1, ");
  // While the pod exists, it starts over; the result of the failed network is still known.
  CHECK(cluster.call("DEL").exit_code == 1);
  CHECK(cluster.calls() == "DEL net2, DEL net1, ");
  CHECK(text(cluster.input("DEL", "net2"), "prevResult") != "nothing");
  CHECK(text(cluster.input("DEL", "net1"), "prevResult") == "nothing");
  cluster.remove_pod();
  CHECK(cluster.call("DEL").exit_code == 0);
  CHECK(cluster.calls() == "");
}

TEST_CASE("the pod is told of its networks, with what is known of the device") {
  Cluster cluster;
  cluster.network("blue", R"({"cniVersion": "1.1.0", "type": "plugin",
    "capabilities": {"CNIDeviceInfoFile": true}})",
                  "ib/vf");
  cluster.given(
      R"({"PodUID": "u1", "ResourceName": "ib/vf", "DeviceIDs": {"0": ["0000:01:00.1"]}})");
  cluster.write("devinfo/dp/ib-vf-0000:01:00.1-device.json",
                R"({"type": "pci", "version": "1.1.0", "own": 1,
    "pci": {"pci-address": "0000:01:00.1", "pkey": "0x8001", "pkey-index": 0, "rdma-device": "mlx5_3"}})");
  cluster.pod("blue");
  REQUIRE(cluster.call("ADD", kCluster).exit_code == 0);
  const std::string file = "devinfo/cni/team-a-blue-c1_net1";
  CHECK(text(*cluster.input("ADD", "net1").find("runtimeConfig"), "CNIDeviceInfoFile") ==
        "\"" + (cluster.path() / file).string() + "\"");
  CHECK(
      cluster.status().text() ==
      R"([{"name":"cluster","interface":"eth0","ips":["10.7.0.1"],"mac":"02:00","mtu":2044,"default":true,"dns":{}},)"
      R"({"name":"team-a/blue","interface":"net1","ips":["10.7.0.1"],"mac":"02:00","mtu":2044,"dns":{},)"
      R"("device-info":{"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:01:00.1","rdma-device":"mlx5_3"}}}])");
  using std::filesystem::perms;
  CHECK(std::filesystem::status(cluster.path() / "devinfo/cni").permissions() == perms::none);
  CHECK(std::filesystem::status(cluster.path() / file).permissions() == perms(0444));
  REQUIRE(cluster.call("DEL", kCluster).exit_code == 0);
  CHECK_FALSE(path_exists(cluster.path() / file));
}

TEST_CASE("the folder of device-info files is made for a copy alone; the path is told anyway") {
  Cluster cluster;
  cluster.network("blue", R"({"cniVersion": "1.1.0", "type": "plugin",
    "capabilities": {"CNIDeviceInfoFile": true}})",
                  "ib/vf");
  cluster.given(
      R"({"PodUID": "u1", "ResourceName": "ib/vf", "DeviceIDs": {"0": ["0000:01:00.1"]}})");
  cluster.pod("blue");
  REQUIRE(cluster.call("ADD").exit_code == 0);
  CHECK(text(*cluster.input("ADD", "net1").find("runtimeConfig"), "CNIDeviceInfoFile") !=
        "nothing");
  CHECK_FALSE(path_exists(cluster.path() / "devinfo"));
}

TEST_CASE("a network that makes no interface is not among what the pod is told") {
  Cluster cluster;
  cluster.network("blue", kPlain);
  cluster.pod("blue");
  cluster.write("none", "");
  REQUIRE(cluster.call("ADD", kCluster).exit_code == 0);
  CHECK(cluster.status().text() == "[]");
}

TEST_CASE("GC before any ADD is an error") {
  Cluster cluster;
  CHECK(cluster.call("GC", kCluster).failure->code == kMultusError);
  CHECK(cluster.calls() == "");
}

TEST_CASE("CHECK, GC and STATUS are for the cluster's network alone") {
  Cluster cluster;
  cluster.network("blue", kPlain);
  cluster.pod("blue");
  REQUIRE(cluster.call("ADD", kCluster).exit_code == 0);
  cluster.calls();
  for (const char* verb : {"CHECK", "STATUS", "GC"})
    CHECK(cluster.call(verb, kCluster).exit_code == 0);
  CHECK(cluster.calls() == "CHECK eth0, STATUS , GC , ");
  CHECK(text(cluster.input("CHECK", "eth0"), "prevResult") != "nothing");
  CHECK(text(cluster.input("GC", ""), "cni.dev/valid-attachments") ==
        R"([{"containerID":"c1","ifname":"net1"},{"containerID":"c1","ifname":"eth0"}])");
  cluster.write("broken.STATUS.", "");
  CHECK(cluster.call("STATUS", kCluster).failure->code == cni::kNotAvailable);
}

}  // namespace
}  // namespace ibpod::multus
