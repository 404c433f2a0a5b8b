// Each finding of `ibpodctl doctor` on a node that no other program tells it: planted, named with
// its remedy, and gone when the printed remedy is done. tests/vm/cases/doctor_remedies.sh types
// what is printed into a shell, for those that a kernel can show.
#include "ctl/connect.h"
#include "ctl/doctor_questions.h"
#include "ctl/test_node.h"
#include "ctl/test_service.h"
#include "lib/fabricapi/test_fake_service.h"

#include <set>

#include <doctest/doctest.h>

namespace ibpod::ctl {
namespace {

// The health of an agent that nothing is wrong with.
v1::HealthResponse registered() {
  v1::HealthResponse health;
  health.set_registered(true);
  return health;
}

// The node's agent.
struct Agent : nodeapi::Node {
  Result<v1::HealthResponse> health(Deadline) override { return health_reported; }
  Result<v1::ListDevicesResponse> devices(Deadline) override { return none(); }
  Result<v1::ListAttachmentsResponse> attachments(Deadline) override { return none(); }
  Result<v1::ExplainResponse> explain(const std::string&, Deadline) override { return none(); }
  Result<std::string> device_of(const nodeapi::DeviceQuestion&, Deadline) override {
    return none();
  }
  Result<nodeapi::Binding> bind(const nodeapi::AttachmentName&, Wait, Deadline) override {
    return none();
  }
  Result<nodeapi::Binding> unbind(const nodeapi::AttachmentName&, Deadline) override {
    return none();
  }
  static Error none() { return {Code::unsupported, "it is not asked that"}; }

  Result<v1::HealthResponse> health_reported;
  explicit Agent(Result<v1::HealthResponse> health) : health_reported(std::move(health)) {}
};

// Serves the fabric "default", which has nothing wrong.
struct HealthyFabric : fabricapi::FakeService {
  Reactor* FabricHealth(Context* context, const v1::FabricHealthRequest* request,
                        v1::FabricHealthResponse* response) override {
    return answer(context, request, response,
                  []() -> Result<v1::FabricHealthResponse> { return v1::FabricHealthResponse{}; });
  }
};

struct Bench {
  test::Node node;
  Result<v1::HealthResponse> agent = registered();
  test::State state;                                        // of the SM service
  std::optional<fabricapi::Served<HealthyFabric>> service;  // in its place, behind a socket
  Session session;

  Bench() {
    session.agent = [this](const Path&) { return std::make_unique<Agent>(agent); };
    session.connect = [this](const SmAddress& address) -> Result<std::unique_ptr<Service>> {
      if (service) return connect(address);
      return std::unique_ptr<Service>(new test::StateService(state));
    };
    session.paths = node.paths();
    std::filesystem::create_directories(node.at("sys/class/infiniband_mad"));
  }
  // Asks a service behind a socket from now on, as it should be asked.
  void ask_right() {
    if (!service) service.emplace();
    session.sm = {};
    session.sm.address = "unix:" + service->socket.string();
  }
  std::vector<Finding> look() {
    std::vector<Finding> findings = examine(node.look());
    ask_agent(session, findings);
    ask_service(session, findings);
    std::erase_if(findings, [](const Finding& one) { return one.grade == Grade::fine; });
    return findings;
  }
  node::Function vf() { return *node.k.function(node.vf).value(); }
  void set_guid(ib::Guid guid) { node.k.set_vf_guids(vf(), guid, guid).value(); }
};

struct Row {
  const char* what;
  Issue issue;
  void (*plant)(Bench&);
  const char* named;      // in check and text
  const char* remedy;     // in the remedy: what is done
  void (*apply)(Bench&);  // does it, and what then happens by itself
};

void without_module(Bench& b, const std::string& name) { b.node.remove("sys/module/" + name); }
std::string of(Bench& b, const std::string& file) { return test::Node::device(b.node.pf) + file; }

const Row kRows[] = {
    {"an old kernel", Issue::old_kernel,
     [](Bench& b) { b.node.write("proc/sys/kernel/osrelease", "5.4.0\n"); },
     "kernel: 5.4.0 is older than 5.10", "boot a kernel of 5.10 or later",
     [](Bench& b) { b.node.write("proc/sys/kernel/osrelease", "5.10.0-8-amd64\n"); }},
    {"no core", Issue::module_missing, [](Bench& b) { without_module(b, "ib_core"); },
     "module ib_core: not loaded", "modprobe ib_core",
     [](Bench& b) { b.node.modprobe("ib_core"); }},
    {"no verbs", Issue::module_missing, [](Bench& b) { without_module(b, "ib_uverbs"); },
     "module ib_uverbs: not loaded", "modprobe ib_uverbs",
     [](Bench& b) { b.node.modprobe("ib_uverbs"); }},
    {"no IPoIB", Issue::module_missing, [](Bench& b) { without_module(b, "ib_ipoib"); },
     "module ib_ipoib: not loaded", "modprobe ib_ipoib",
     [](Bench& b) { b.node.modprobe("ib_ipoib"); }},
    {"no connection manager", Issue::module_missing,
     [](Bench& b) { without_module(b, "rdma_ucm"); }, "module rdma_ucm: not loaded",
     "modprobe rdma_ucm", [](Bench& b) { b.node.modprobe("rdma_ucm"); }},
    {"no RDMA", Issue::no_rdma,
     [](Bench& b) { b.node.k.fail_at(0, fake::FakeKernel::Count::calls); },
     "rdma-netns-mode: the kernel reports no mode", "modprobe ib_core",
     [](Bench& b) { b.node.k.heal(); }},
    {"shared devices, and no pod yet", Issue::shared_mode,
     [](Bench& b) { b.node.k.state.rdma_mode = nl::RdmaNetnsMode::shared; },
     "rdma-netns-mode: shared", "before the first pod, `rdma system set netns exclusive`",
     [](Bench& b) { b.node.k.set_rdma_netns_mode(nl::RdmaNetnsMode::exclusive).value(); }},
    {"shared devices, until the next boot", Issue::shared_mode,
     [](Bench& b) { b.node.k.state.rdma_mode = nl::RdmaNetnsMode::shared; },
     "rdma-netns-mode: shared", "\"options ib_core netns_mode=0\"",
     [](Bench& b) { b.node.k.state.rdma_mode = nl::RdmaNetnsMode::exclusive; }},
    {"no adapter", Issue::no_adapters, [](Bench& b) { b.node.remove("sys/bus/pci/devices"); },
     "adapters: no InfiniBand function found", "and load their driver",
     [](Bench& b) { b.node.add_adapter(); }},
    {"a PF without driver", Issue::pf_without_driver,
     [](Bench& b) { b.node.remove(of(b, "/driver")); }, "the PF has no driver",
     "modprobe mlx5_core", [](Bench& b) { b.node.probe(b.node.pf); }},
    {"a PF without RDMA device", Issue::pf_without_rdma,
     [](Bench& b) {
       b.node.remove(of(b, "/infiniband"));
       b.node.remove(of(b, "/infiniband_verbs"));
     },
     "the PF has no RDMA device", "modprobe mlx5_ib",
     [](Bench& b) {
       b.node.write(of(b, "/infiniband/mlx5_0/node_type"), "1: CA\n");
       b.node.write(of(b, "/infiniband_verbs/uverbs0/dev"), "231:192\n");
     }},
    {"a port that does not say what it is", Issue::link_layer_unknown,
     [](Bench& b) {
       b.node.remove(test::Node::port("link_layer"));
       b.node.write(test::Node::port("state"), "4: ACTIVE\n");
     },
     "port 1 (mlx5_0) does not report its link layer",
     "see /sys/class/infiniband/mlx5_0/ports/1/link_layer",
     [](Bench& b) { b.node.write(test::Node::port("link_layer"), "InfiniBand\n"); }},
    {"an Ethernet port", Issue::ethernet_port,
     [](Bench& b) { b.node.write(test::Node::port("link_layer"), "Ethernet\n"); },
     "port 1 (mlx5_0) is an Ethernet port",
     "mstconfig -d 0000:3b:00.0 set LINK_TYPE_P1=1, then reboot",
     [](Bench& b) { b.node.write(test::Node::port("link_layer"), "InfiniBand\n"); }},
    {"firmware without VFs", Issue::no_vfs,
     [](Bench& b) { b.node.write(of(b, "/sriov_totalvfs"), "0\n"); }, "sriov_totalvfs is 0",
     "mstconfig -d 0000:3b:00.0 set SRIOV_EN=1 NUM_OF_VFS=16, then reboot",
     [](Bench& b) { b.node.write(of(b, "/sriov_totalvfs"), "16\n"); }},
    {"a VF without driver", Issue::vf_without_driver,
     [](Bench& b) { b.node.remove(test::Node::device(b.node.vf) + "/driver"); },
     "0000:3b:00.1: the VF has no driver", "echo 0000:3b:00.1 > /sys/bus/pci/drivers_probe",
     [](Bench& b) { b.node.probe(b.node.vf); }},
    {"a PF that says nothing of its VFs", Issue::vf_settings_unknown,
     [](Bench& b) { b.node.k.tells_vf_settings = false; },
     "the VF's GUID and link policy cannot be read from its PF",
     "check that the PF has its IPoIB interface",
     [](Bench& b) { b.node.k.tells_vf_settings = true; }},
    {"a VF without GUID", Issue::vf_without_guid, [](Bench& b) { b.set_guid(ib::kNoGuid); },
     "the VF has no GUID",
     "ip link set ib0 vf 0 node_guid GUID; ip link set ib0 vf 0 port_guid GUID; echo 0000:3b:00.1 "
     "> "
     "/sys/bus/pci/drivers/mlx5_core/unbind; echo 0000:3b:00.1 > /sys/bus/pci/drivers_probe",
     [](Bench& b) { b.set_guid(ib::Guid(0x0200000000000002)); }},
    {"a VF that is kept down", Issue::vf_link_disabled,
     [](Bench& b) { b.node.k.set_vf_policy(b.vf(), nl::LinkPolicy::disable).value(); },
     "the VF's link policy is disable", "ip link set ib0 vf 0 state auto",
     [](Bench& b) { b.node.k.set_vf_policy(b.vf(), nl::LinkPolicy::automatic).value(); }},
    {"a limit that is not known", Issue::memlock_unknown,
     [](Bench& b) { b.node.remove("proc/7/limits"); },
     "memlock: the memlock limit of containerd cannot be read",
     "grep 'Max locked memory' /proc/$(pidof -s containerd)/limits",
     [](Bench& b) { b.node.limit("unlimited"); }},
    {"little memory", Issue::memlock_low, [](Bench& b) { b.node.limit("8388608"); },
     "memlock: pods of containerd may lock 8192 KiB",
     "set LimitMEMLOCK=infinity in a drop-in of containerd.service",
     [](Bench& b) { b.node.limit("unlimited"); }},
    {"no kubelet", Issue::socket_missing,
     [](Bench& b) { b.node.remove("kubelet/device-plugins/kubelet.sock"); },
     "device-plugins/kubelet.sock: the socket does not exist", "check that its owner runs",
     [](Bench& b) { b.node.write("kubelet/device-plugins/kubelet.sock", ""); }},
    {"a kubelet without pod-resources", Issue::socket_missing,
     [](Bench& b) { b.node.remove("kubelet/pod-resources"); },
     "pod-resources/kubelet.sock: the socket does not exist",
     "that the path is right (--kubelet-root)",
     [](Bench& b) { b.node.write("kubelet/pod-resources/kubelet.sock", ""); }},
    {"no agent's socket", Issue::socket_missing, [](Bench& b) { b.node.remove("agent.sock"); },
     "agent.sock: the socket does not exist", "check that its owner runs",
     [](Bench& b) { b.node.write("agent.sock", ""); }},
    {"no plugin", Issue::plugin_missing, [](Bench& b) { b.node.remove("bin/ipoib"); },
     "bin/ipoib: is missing or not executable", "check the init container",
     [](Bench& b) { b.node.install("ipoib"); }},
    {"a plugin that cannot be run", Issue::plugin_missing,
     [](Bench& b) {
       std::filesystem::permissions(b.node.at("bin/ib-sriov"), std::filesystem::perms(0644));
     },
     "bin/ib-sriov: is missing or not executable", "of the agent's DaemonSet, which installs it",
     [](Bench& b) { b.node.install("ib-sriov"); }},
    {"an agent that does not answer", Issue::agent,
     [](Bench& b) { b.agent = Error(Code::unavailable, "agent.sock: connection refused"); },
     "agent: agent.sock: connection refused", "check that its DaemonSet's pod runs on this node",
     [](Bench& b) { b.agent = registered(); }},
    {"a kubelet that does not know a resource", Issue::registration,
     [](Bench& b) { b.agent->set_registered(false); },
     "kubelet: not all resources of the agent are registered", "see the agent's log",
     [](Bench& b) { b.agent->set_registered(true); }},
    {"a finding of the agent's", Issue::reported_by_agent,
     [](Bench& b) {
       v1::HealthResponse::Finding& finding = *b.agent->add_findings();
       finding.set_subject("sm-service");
       finding.set_text("is not reached");
       finding.set_remedy("start it");
     },
     "sm-service: is not reached", "start it", [](Bench& b) { b.agent->clear_findings(); }},
    {"a finding of the service's", Issue::reported_by_service,
     [](Bench& b) { b.state.health = test::health("m_key", "is 0", "set one"); },
     "fabric: m_key: is 0", "set one", [](Bench& b) { b.state.health.clear_findings(); }},
    {"a service that is away", Issue::sm_service,
     [](Bench& b) { b.ask_right(), b.session.sm.address = "unix:/nonexistent/sm.sock"; },
     "/nonexistent/sm.sock",
     "check that ibpod-sm runs at unix:/nonexistent/sm.sock, and see its log",
     [](Bench& b) { b.ask_right(); }},
    {"a machine of ibpod-sm's without umad", Issue::sm_service,
     [](Bench& b) {
       b.ask_right();
       b.session.sm.address = "unix:/nonexistent/sm.sock";
       b.node.remove("sys/class/infiniband_mad");
     },
     "/nonexistent/sm.sock", "modprobe ib_umad",
     [](Bench& b) {
       std::filesystem::create_directories(b.node.at("sys/class/infiniband_mad"));
       b.ask_right();
     }},
    {"another fabric", Issue::sm_service,
     [](Bench& b) { b.ask_right(), b.session.sm.fabric = "east"; }, "fabric: expected \"default\"",
     "set --fabric or IBPOD_FABRIC", [](Bench& b) { b.ask_right(); }},
    {"files of ours that are missing", Issue::sm_service,
     [](Bench& b) {
       b.ask_right();
       SmAddress& sm = b.session.sm;
       sm.address = "h:1";
       sm.certificate = sm.key = sm.ca = "/nonexistent/admin.pem";
     },
     "/nonexistent/admin.pem: No such file",
     "set --certificate, --key and --ca (or IBPOD_CERTIFICATE", [](Bench& b) { b.ask_right(); }},
    {"a service that is asked over TLS without files", Issue::sm_service,
     [](Bench& b) { b.ask_right(), b.session.sm.address = "h:1"; },
     "requires TLS: set --certificate, --key and --ca",
     "set --sm to an address, and the options that it requires", [](Bench& b) { b.ask_right(); }},
    {"no permission", Issue::sm_service,
     [](Bench& b) { b.state.refusal = Error(Code::denied, "CN=guest has no role"); },
     "CN=guest has no role", "under `roles` in ibpod-sm's configuration",
     [](Bench& b) { b.state.refusal.reset(); }},
};

// A line each.
std::string texts(const std::vector<Finding>& findings) {
  std::string all;
  for (const Finding& one : findings) all += one.check + ": " + one.text + "\n";
  return all;
}

TEST_CASE("each finding is named alone, and is gone when its remedy is done") {
  std::set<Issue> planted{Issue::none};
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.what));
    planted.insert(row.issue);
    Bench bench;
    REQUIRE(texts(bench.look()) == "");
    row.plant(bench);
    const std::vector<Finding> found = bench.look();
    REQUIRE(found.size() == 1);
    const Finding& finding = found.front();
    CHECK(finding.issue == row.issue);
    CHECK_MESSAGE((finding.check + ": " + finding.text).find(row.named) != std::string::npos,
                  finding.check << ": " << finding.text);
    CHECK_MESSAGE(finding.remedy.find(row.remedy) != std::string::npos, finding.remedy);
    row.apply(bench);
    CHECK(texts(bench.look()) == "");
  }
  CHECK(planted.size() == static_cast<size_t>(kLastIssue) + 1);
}

}  // namespace
}  // namespace ibpod::ctl
