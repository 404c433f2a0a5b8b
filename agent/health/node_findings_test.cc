// Each finding of the agent's that `ibpodctl doctor` prints: planted, named with a remedy and the
// time of its look, and gone when the printed remedy is done. Problems of preparation have a table
// of their own (agent/prepare/remedies_test.cc), those that only `ibpodctl` sees
// ctl/remedies_test.cc.
#include "agent/health/node_findings.h"

#include "agent/gc/test_fake_node.h"
#include "agent/prepare/test_prepare_fixture.h"
#include "agent/sm_client/test_tls_rail.h"

#include <optional>
#include <set>

namespace ibpod::agent::health {
namespace {

using device_plugin::Device;
using nl::RdmaNetnsMode;
using namespace std::chrono_literals;

constexpr ib::Guid kOwn{0x0200'0000'0000'0e01}, kOfPool{0x0200'0000'0000'e001},
    kPfGuid{0x0002'c903'0000'0001};

// A node's fabrics, and the devices that pods can be given there.
struct Fabric {
  sm_client::TwoRails rails;
  std::optional<sm_client::TlsRail> tls;
  std::vector<Device> devices{device(rails.vf[0], rails.pf[0], kOwn)};

  ~Fabric() { rails.fabrics.reset(); }

  static Device device(const ib::PciAddress& address, std::optional<ib::PciAddress> pf,
                       ib::Guid guid) {
    Device one;
    one.address = address;
    one.pf = pf;
    one.rdma = {
        {.name = "mlx5_2", .node_guid = guid, .ports = {{ib::PortState::active, 1, guid, {}}}}};
    return one;
  }
  void restart(const std::vector<config::FabricService>& services) {
    rails.fabrics.reset();
    rails.open(services);
  }
  void use_tls() {
    tls.emplace(rails.east);
    restart({tls->service});
  }
  void refuse(ib::Guid port) {
    rails.east.model.set_unknown({port});
    rails.fabrics->set_ports(sm_client::ports_of(devices));
  }
};

// All that the agent's findings are made of.
struct Bench {
  prepare::PrepareFixture preparation;
  fake::FakeKernel k = fake::node_with(1, 0);  // that has the RDMA namespace mode
  prepare::RdmaModeStatus mode = prepare::set_rdma_mode(k, prepare::RdmaNetns::exclusive);
  gc::test::FakeNode pods;
  gc::GarbageCollector collector{pods.gc_deps()};
  Deadline::Clock::time_point now = Deadline::Clock::now();
  std::optional<Fabric> fabric;

  // By PCI address or ticket, as pools have them.
  snapshot::Snapshot snapshot() {
    snapshot::Snapshot made;
    for (const Error& problem : preparation.run().problems)
      made.preparation_errors.push_back(problem.text());
    made.rdma_mode = mode = prepare::refresh_rdma_mode(k, prepare::RdmaNetns::exclusive, mode);
    if (!fabric) return made;
    made.devices = fabric->devices;
    fabric->rails.fabrics->set_bind_faults(made.devices);
    made.pools.emplace_back().name = "vfs";
    device_plugin::PoolContents contents{made.pools.front(), {}};
    for (const Device& device : made.devices)
      contents.devices.push_back({device.address.text(), device, 0, ""});
    made.pool_contents = {contents};
    return made;
  }
  NodeFindings findings() {
    now += 120s;  // longer than any pause
    gc::GcRun gc_run = collector.run(now).value();
    const RefreshTimes::Time seen(22h + 36min + 10s);
    gc_run.evaluated_at = seen;
    const RefreshTimes times{seen, seen};
    const snapshot::Snapshot seen_now = snapshot();
    return node_findings({seen_now, gc_run, times, fabric ? fabric->rails.fabrics.get() : nullptr});
  }
  // At the next boot it is set before there is any pod.
  void start_agent() { mode = prepare::set_rdma_mode(k, prepare::RdmaNetns::exclusive); }
  gc::test::FakePod& end_a_pod() {
    gc::test::FakePod& pod = pods.start("c1", "0000:3b:00.1", "a", "/run/netns/a");
    pods.kill(pod);
    return pod;
  }
  Fabric& on_fabrics() {
    fabric.emplace();
    return *fabric;
  }
};

struct Row {
  const char* what;
  Issue issue;
  void (*plant)(Bench&);
  const char* named;      // in subject and text
  const char* remedy;     // in the remedy: what is done
  void (*apply)(Bench&);  // does it, and what then happens by itself
};

void make_shared(Bench& b) {
  b.k = fake::node_with(1, 0);
  b.k.state.rdma_mode = RdmaNetnsMode::shared;
  b.k.make_namespace("/run/netns/pod");
  b.start_agent();
}
void choose_no_pf(Bench& b) { b.preparation.config().vendor = 0x8086; }

const Row kRows[] = {
    {"a shared mode, until the next boot", Issue::rdma_mode, make_shared,
     "rdma-netns-mode: RDMA namespace mode shared, but rdmaNetns is exclusive",
     "\"options ib_core netns_mode=0\" into /etc/modprobe.d/ibpod.conf, rebuild the initramfs and "
     "reboot",
     [](Bench& b) {
       b.k = fake::node_with(1, 0);
       b.k.state.rdma_mode = RdmaNetnsMode::exclusive;
       b.start_agent();
     }},
    {"a shared mode, until the node has no pods", Issue::rdma_mode, make_shared,
     "the kernel changes the mode only while there is no other network namespace",
     "restart the agent while the node has no pods",
     [](Bench& b) {
       b.k = fake::node_with(1, 0);
       b.k.state.rdma_mode = RdmaNetnsMode::shared;
       b.start_agent();
     }},
    {"a mode that was changed", Issue::rdma_mode,
     [](Bench& b) { b.k.state.rdma_mode = RdmaNetnsMode::shared; },
     "it was changed after the agent started", "or restart the agent",
     [](Bench& b) { b.start_agent(); }},
    {"no RDMA", Issue::rdma_mode,
     [](Bench& b) { b.k.fail_from(0, fake::FakeKernel::Count::calls); },
     "cannot read the RDMA namespace mode", "modprobe ib_core",
     [](Bench& b) { b.k = fake::node_with(1, 0); }},
    {"an entry of pfs that chooses none", Issue::preparation, choose_no_pf,
     "preparation: pfs[0]: it selects no PF of this node",
     "under \"pfs\" in the agent's configuration",
     [](Bench& b) { b.preparation.config().vendor = 0x15b3; }},
    {"a certificate that has expired", Issue::certificate,
     [](Bench& b) {
       Fabric& fabric = b.on_fabrics();
       fabric.use_tls();
       REQUIRE(in_time([&] { return fabric.rails.fabrics->sm_statuses().at("east").reached; }));
       fabric.tls->files.put(
           fabric.tls->ca.issue({.common_name = "n1", .from = -60, .until = -30}));
     },
     "certificate: cannot use this node's certificate for the SM service of fabric east: ",
     "issue a new certificate for this node", [](Bench& b) { b.fabric->tls->renew(); }},
    {"a certificate that is missing", Issue::certificate,
     [](Bench& b) {
       Fabric& fabric = b.on_fabrics();
       fabric.use_tls();
       REQUIRE(in_time([&] { return fabric.rails.fabrics->sm_statuses().at("east").reached; }));
       std::filesystem::remove(fabric.tls->files.files.certificate);
     },
     "tls.crt: No such file", "issue a new certificate for this node",
     [](Bench& b) { b.fabric->tls->renew(); }},
    {"an SM service that is away", Issue::sm_service,
     [](Bench& b) {
       Fabric& fabric = b.on_fabrics();
       REQUIRE(in_time([&] { return fabric.rails.fabrics->sm_statuses().at("east").reached; }));
       fabric.rails.east.leave();
     },
     "sm-service: the SM service of fabric east cannot be reached: ",
     "check that ibpod-sm runs there", [](Bench& b) { b.fabric->rails.east.begin(); }},
    {"a cable in the wrong switch", Issue::wrong_subnet,
     [](Bench& b) {
       Fabric& fabric = b.on_fabrics();
       fabric.rails.plug(fabric.rails.pf[0], sm_client::kUnmanaged);
     },
     "0000:11:00.0: no partition can be bound: PF 0000:11:00.0 is on the subnet",
     "or correct the cabling",
     [](Bench& b) { b.fabric->rails.plug(b.fabric->rails.pf[0], sm_client::kEast); }},
    {"a subnet prefix that is not the fabric's", Issue::wrong_subnet,
     [](Bench& b) {
       config::FabricService wrong = b.on_fabrics().rails.east.service;
       wrong.subnet_prefix = ib::Guid(sm_client::kUnmanaged);
       b.fabric->restart({wrong});
     },
     "not on fe80:0000:0000:0009",
     "correct subnetPrefix under \"fabrics\" in the agent's configuration and restart the agent",
     [](Bench& b) { b.fabric->restart({b.fabric->rails.east.service}); }},
    {"a PF without RDMA device", Issue::wrong_subnet,
     [](Bench& b) {
       Fabric& fabric = b.on_fabrics();
       fabric.rails.tree.unbind(fabric.rails.pf[0]);
     },
     "cannot read the PF of ", "a PF without RDMA device: load its driver",
     [](Bench& b) {
       b.fabric->rails.tree.bind(b.fabric->rails.pf[0]);
       b.fabric->rails.plug(b.fabric->rails.pf[0], sm_client::kEast);
     }},
    {"a VF with a foreign GUID, that is named", Issue::unknown_guid,
     [](Bench& b) { b.on_fabrics().refuse(kOwn); },
     "the SM service of fabric east does not know port ",
     "name it under nodes.NODE.guids in ibpod-sm's configuration, and restart ibpod-sm",
     [](Bench& b) {
       b.fabric->rails.east.leave();
       b.fabric->rails.east.model.set_unknown({});
       b.fabric->rails.east.begin();
     }},
    {"a VF with a foreign GUID, that gets one of the pool", Issue::unknown_guid,
     [](Bench& b) { b.on_fabrics().refuse(kOwn); },
     "the SM service of fabric east does not know port ", "give the VF a GUID of the pool",
     [](Bench& b) {
       Fabric& fabric = *b.fabric;
       fabric.devices = {Fabric::device(fabric.rails.vf[0], fabric.rails.pf[0], kOfPool)};
       fabric.rails.fabrics->set_ports(sm_client::ports_of(fabric.devices));
     }},
    {"a PF that is not this node's", Issue::unknown_guid,
     [](Bench& b) {
       Fabric& fabric = b.on_fabrics();
       fabric.devices = {Fabric::device(fabric.rails.pf[0], {}, kPfGuid)};
       fabric.refuse(kPfGuid);
     },
     "as a PF of this node", "nodes.NODE.pfs",
     [](Bench& b) { b.fabric->rails.east.model.set_unknown({}); }},
    {"an attachment whose end fails", Issue::quarantined,
     [](Bench& b) {
       b.end_a_pod();
       b.pods.failure = "the VF does not come back";
     },
     "waiting for clean-up: ", "correct this cause: the agent tries again every",
     [](Bench& b) { b.pods.failure.clear(); }},
    {"a kubelet that does not say who lives", Issue::quarantined,
     [](Bench& b) {
       b.end_a_pod();
       b.pods.kubelet = gc::test::FakeNode::Kubelet::silent;
     },
     "the kubelet did not list its pods: pod-resources: refused", "correct this cause",
     [](Bench& b) { b.pods.kubelet = gc::test::FakeNode::Kubelet::right; }},
    {"a damaged record of a pod that lives", Issue::quarantined,
     [](Bench& b) { b.pods.damage(b.pods.start("c1", "0000:3b:00.1", "a", "/run/netns/a")); },
     "a pod may still have it", "`ibpodctl attachments` shows the pod",
     [](Bench& b) { b.pods.kill(b.pods.pods.at("c1")); }},
    {"an address that IPAM does not take back", Issue::address_release,
     [](Bench& b) {
       b.end_a_pod();
       b.pods.ipam_fails = {"c1"};
     },
     "IPAM has not released its address: ", "correct the cause of the IPAM error",
     [](Bench& b) { b.pods.ipam_fails.clear(); }},
};

// True if it is current, or names the time of its observation.
bool has_time(const NodeFinding& found) {
  if (found.issue == Issue::certificate) return true;  // read at the question
  return found.finding.text.ends_with(" UTC)");
}

TEST_CASE("each finding of the agent's is named alone, and is gone when its remedy is done") {
  std::set<Issue> planted;
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.what));
    planted.insert(row.issue);
    Bench bench;
    REQUIRE(bench.findings().empty());
    row.plant(bench);
    NodeFindings found;
    const auto said = [&] {
      const Finding& one = found.front().finding;
      return one.subject + ": " + one.text;
    };
    const bool named = in_time([&] {
      found = bench.findings();
      return found.size() == 1 && said().find(row.named) != std::string::npos;
    });
    REQUIRE_FALSE(found.empty());
    CAPTURE(said());
    REQUIRE(named);
    CHECK(found.front().issue == row.issue);
    CHECK(has_time(found.front()));
    CHECK_MESSAGE(found.front().finding.remedy.find(row.remedy) != std::string::npos,
                  found.front().finding.remedy);
    row.apply(bench);
    CHECK(in_time([&] { return bench.findings().empty(); }));
  }
  CHECK(planted.size() == static_cast<size_t>(kLastIssue) + 1);
}

}  // namespace
}  // namespace ibpod::agent::health
