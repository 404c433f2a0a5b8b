// The answers of an agent with a kubelet about a device that a network names.
#include "agent/agent.h"
#include "agent/test_agent_fixture.h"
#include "lib/nodeapi/client.h"

#include <thread>

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

class RunningAgent {
 public:
  RunningAgent() : vf(fixture_.tree.add_vf(fixture_.tree.add_pf())) {
    fixture_.tree.remove_netdevs();  // this kernel knows of none of them
    fixture_.configure(R"({"resourceName": "vfs", "selectors": {"vendors": ["15b3"]}})");
    config::Reloader reloader =
        config::Reloader::start(fixture_.configuration(), "node", check_sections).value();
    agent_ = Agent::open(std::move(reloader), log_).value();
    thread_ = std::thread([this] { ended_ = agent_->run(); });
    REQUIRE(fixture_.kubelet.await("example.com/vfs",
                                   [](const PluginSeen& seen) { return !seen.devices.empty(); }));
  }
  ~RunningAgent() {
    agent_->stop();
    thread_.join();
    agent_->shut_down();
    CHECK(ended_);
  }
  RunningAgent(const RunningAgent&) = delete;
  RunningAgent& operator=(const RunningAgent&) = delete;

  void give(const std::string& name, const std::string& device) {
    ::v1::PodResources& pod = *pods_.add_pod_resources();
    pod.set_name(name);
    pod.set_namespace_("lab");
    ::v1::ContainerDevices& given = *pod.add_containers()->add_devices();
    given.set_resource_name("other.example.com/vfs");
    given.add_device_ids(device);
    fixture_.kubelet.set_pods(pods_);
  }
  Result<std::string> ask(const std::string& pod, const std::string& device) const {
    return nodeapi::connect(fixture_.socket())
        ->device_of({"lab", pod, "", "c1", "net1", device}, Deadline::in(Duration(20'000)));
  }

 private:
  AgentFixture fixture_;
  log::Log log_{log::Level::error};
  ::v1::ListPodResourcesResponse pods_;
  std::unique_ptr<Agent> agent_;
  Status ended_ = ok();
  std::thread thread_;

 public:
  const ib::PciAddress vf;
};

TEST_CASE("a device is that of the pod that the kubelet gave it to, and of no other") {
  RunningAgent node;
  node.give("a", node.vf.text());
  node.give("b", "0000:ff:00.7");
  CHECK(node.ask("a", node.vf.text()).value() == node.vf.text());
  const Result<std::string> refused = node.ask("b", node.vf.text());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::denied);
  CHECK(refused.error().text().ends_with("the kubelet has not given " + node.vf.text() +
                                         " to the pod lab/b"));
  CHECK(node.ask("c", node.vf.text()).error().code() == Code::unavailable);
  CHECK(node.ask("a", "no address").error().code() == Code::invalid);
}

}  // namespace
}  // namespace ibpod::agent
