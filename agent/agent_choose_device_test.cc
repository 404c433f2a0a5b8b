// What a plugin is told of a device that a network names, by an agent with a kubelet.
#include "agent/agent.h"
#include "agent/check_sections.h"
#include "agent/test_agent_fixture.h"
#include "lib/nodeapi/client.h"

#include <thread>

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

class Running {
 public:
  Running() : vf(bed_.tree.add_vf(bed_.tree.add_pf())) {
    bed_.tree.remove_netdevs();  // this kernel knows of none of them
    bed_.configure(R"({"resourceName": "vfs", "selectors": {"vendors": ["15b3"]}})");
    Reloader reloader = Reloader::start(bed_.configuration(), "node", judge_sections).value();
    agent_ = Agent::open(std::move(reloader), log_).value();
    thread_ = std::thread([this] { ended_ = agent_->run(); });
    REQUIRE(bed_.kubelet.await("example.com/vfs",
                               [](const PluginSeen& seen) { return !seen.devices.empty(); }));
  }
  ~Running() {
    agent_->stop();
    thread_.join();
    agent_->leave();
    CHECK(ended_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void give(const std::string& name, const std::string& device) {
    v1::PodResources& pod = *pods_.add_pod_resources();
    pod.set_name(name);
    pod.set_namespace_("lab");
    v1::ContainerDevices& given = *pod.add_containers()->add_devices();
    given.set_resource_name("other.example.com/vfs");
    given.add_device_ids(device);
    bed_.kubelet.set_pods(pods_);
  }
  Result<std::string> ask(const std::string& pod, const std::string& device) const {
    return nodeapi::connect(bed_.socket())
        ->device_of({"lab", pod, "", "c1", "net1", device}, Deadline::in(Duration(20'000)));
  }

 private:
  AgentBed bed_;
  log::Log log_{log::Level::error};
  v1::ListPodResourcesResponse pods_;
  std::unique_ptr<Agent> agent_;
  Status ended_ = ok();
  std::thread thread_;

 public:
  const ib::PciAddress vf;
};

TEST_CASE("a device is that of the pod that the kubelet gave it to, and of no other") {
  Running node;
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
