#include "device-plugin/health.h"

#include "lib/base/files.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

constexpr auto kExclusive = nl::RdmaNetnsMode::exclusive;
constexpr auto kShared = nl::RdmaNetnsMode::shared;

ib::PciAddress address(const char* text) { return ib::PciAddress::parse(text).value(); }

ib::Port active_port(uint64_t guid) {
  return {ib::PortState::active, 0x1f, ib::Guid(guid), {ib::kDefaultFull}};
}

Device healthy_vf() {
  Device vf;
  vf.address = address("0000:3b:00.2");
  vf.pf = address("0000:3b:00.0");
  vf.driver = "mlx5_core";
  vf.link_type = "infiniband";
  vf.rdma = {{.name = "mlx5_2", .node_guid = ib::Guid(0x21), .ports = {active_port(0x22)}}};
  vf.char_devices = {"issm2", "umad2", "uverbs2"};
  vf.netdevs = {"ib2"};
  return vf;
}

Device in_pod() {
  Device vf = healthy_vf();
  vf.attachment = "pod default/trainer-0 (net1)";
  return vf;
}

struct Case {
  const char* what;
  std::function<void(Device&)> change;
  std::optional<UnhealthyReason> reason;
  const char* text;
};

const std::vector<Case> kCases{
    {"nothing is wrong", [](Device&) {}, {}, ""},
    {"quarantine", [](Device& d) { d.quarantine = "GC"; }, UnhealthyReason::quarantine,
     "it is in quarantine: GC"},
    {"quarantine is told before all else",
     [](Device& d) {
       d.quarantine = "GC";
       d.driver.reset();
       d.rdma.clear();
     },
     UnhealthyReason::quarantine, "it is in quarantine: GC"},
    {"driver unbound",
     [](Device& d) {
       d.driver.reset();
       d.rdma.clear();
       d.char_devices.clear();
     },
     UnhealthyReason::no_driver, "no driver is bound to it"},
    {"RDMA device gone", [](Device& d) { d.rdma.clear(); }, UnhealthyReason::no_rdma_device,
     "it has no RDMA device"},
    {"RDMA device out of sight",
     [](Device& d) {
       d.rdma.clear();
       d.rdma_error = "gone";
     },
     UnhealthyReason::no_rdma_device, "its RDMA devices cannot be read: gone"},
    {"no uverbs", [](Device& d) { d.char_devices = {"umad2"}; }, UnhealthyReason::no_char_device,
     "it has no uverbs device: load ib_uverbs"},
    {"node GUID zero", [](Device& d) { d.rdma[0].node_guid = ib::Guid(); },
     UnhealthyReason::no_guid, "mlx5_2 has no node GUID"},
    {"port GUID zero", [](Device& d) { d.rdma[0].ports[0].guid = ib::Guid(); },
     UnhealthyReason::no_guid, "port 1 of mlx5_2 has no GUID"},
    {"port GUID all ones", [](Device& d) { d.rdma[0].ports[0].guid = ib::kNoGuid; },
     UnhealthyReason::no_guid, "port 1 of mlx5_2 has no GUID"},
    {"an Ethernet port's GID comes with its netdev",
     [](Device& d) {
       d.link_type = "ether";
       d.rdma[0].ports[0].guid = ib::Guid();
     },
     {},
     ""},
    {"PF without link", [](Device& d) { d.pf_up = false; }, UnhealthyReason::pf_down,
     "the PF 0000:3b:00.0 has no link"},
    {"port down", [](Device& d) { d.rdma[0].ports[0].state = ib::PortState::down; },
     UnhealthyReason::port_not_active, "port 1 of mlx5_2 is DOWN"},
    {"port not brought up by any subnet manager",
     [](Device& d) { d.rdma[0].ports[0].state = ib::PortState::init; },
     UnhealthyReason::port_not_active, "port 1 of mlx5_2 is INIT"},
    {"port unreadable", [](Device& d) { d.rdma[0].ports = {ib::Port()}; },
     UnhealthyReason::port_not_active, "port 1 of mlx5_2 is unknown"},
    {"no port", [](Device& d) { d.rdma[0].ports.clear(); }, UnhealthyReason::port_not_active,
     "it has no port"},
    {"one of two ports is enough",
     [](Device& d) {
       d.rdma[0].ports = {active_port(0x22), active_port(0x23)};
       d.rdma[0].ports[0].state = ib::PortState::down;
     },
     {},
     ""},
    {"both ports down",
     [](Device& d) {
       d.rdma[0].ports = {active_port(0x22), active_port(0x23)};
       d.rdma[0].ports[0].state = ib::PortState::down;
       d.rdma[0].ports[1].state = ib::PortState::init;
     },
     UnhealthyReason::port_not_active, "port 1 of mlx5_2 is DOWN, port 2 of mlx5_2 is INIT"},
    {"smi1 has no say",
     [](Device& d) {
       RdmaDevice smi{.name = "smi1", .node_guid = {}, .ports = {ib::Port()}, .verbs = false};
       d.rdma.push_back(smi);
     },
     {},
     ""},
    {"smi1's port does not stand in for the real one",
     [](Device& d) {
       RdmaDevice smi = d.rdma[0];
       smi.verbs = false;
       d.rdma.push_back(smi);
       d.rdma[0].ports[0].state = ib::PortState::down;
     },
     UnhealthyReason::port_not_active, "port 1 of mlx5_2 is DOWN"},
    {"vfio-pci has no RDMA device",
     [](Device& d) {
       d.driver = "vfio-pci";
       d.rdma.clear();
       d.char_devices.clear();
     },
     {},
     ""},
    {"vfio-pci behind a PF without link",
     [](Device& d) {
       d.driver = "vfio-pci";
       d.pf_up = false;
     },
     UnhealthyReason::pf_down, "the PF 0000:3b:00.0 has no link"},
    {"a PF itself",
     [](Device& d) {
       d.pf.reset();
       d.pf_up = false;
     },
     UnhealthyReason::pf_down, "none of its ports has a link"},
};

TEST_CASE("each thing that is wrong is told, and what recovers is healthy again") {
  for (const Case& one : kCases) {
    CAPTURE(one.what);
    Device device = healthy_vf();
    one.change(device);
    const Health health = evaluate_health(device, {}, kExclusive);
    CHECK(health.reason == one.reason);
    CHECK(health.text == one.text);
    CHECK(evaluate_health(healthy_vf(), {}, kExclusive).is_healthy());
  }
}

TEST_CASE("a device in a pod is judged by its function and PF alone") {
  const std::vector<Case> cases{
      {"its RDMA device is the pod's", [](Device& d) { d.rdma.clear(); }, {}, ""},
      {"… and out of sight", [](Device& d) { d.rdma_error = "gone"; }, {}, ""},
      {"its port is the pod's",
       [](Device& d) { d.rdma[0].ports[0].state = ib::PortState::down; },
       {},
       ""},
      {"so is its GUID", [](Device& d) { d.rdma[0].node_guid = ib::Guid(); }, {}, ""},
      {"its driver", [](Device& d) { d.driver.reset(); }, UnhealthyReason::no_driver,
       "no driver is bound to it"},
      {"its character device, which is gone while the RDMA device moves",
       [](Device& d) { d.char_devices.clear(); },
       {},
       ""},
      {"its PF's link", [](Device& d) { d.pf_up = false; }, UnhealthyReason::pf_down,
       "the PF 0000:3b:00.0 has no link"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.what);
    Device device = in_pod();
    one.change(device);
    CHECK(evaluate_health(device, {}, kExclusive).reason == one.reason);
    CHECK(evaluate_health(device, {}, kExclusive).text == one.text);
  }
}

TEST_CASE("isolation is not promised if RDMA devices are shared, or the mode is unknown") {
  for (const Device& device : {healthy_vf(), in_pod()}) {
    CHECK(evaluate_health(device, {}, kExclusive).is_healthy());
    CHECK(evaluate_health(device, {}, kShared).reason == UnhealthyReason::shared_mode);
    CHECK(evaluate_health(device, {}, std::nullopt).reason == UnhealthyReason::shared_mode);
    CHECK(evaluate_health(device, {.isolation = false}, kShared).is_healthy());
    CHECK(evaluate_health(device, {.isolation = false}, std::nullopt).is_healthy());
  }
  Device vfio = healthy_vf();
  vfio.driver = "vfio-pci";
  CHECK(evaluate_health(vfio, {}, kShared).is_healthy());
}

TEST_CASE("ignoring the link ignores the PF's and the port's, and nothing else") {
  const HealthCriteria criteria{.ignore_link = true};
  Device device = healthy_vf();
  device.pf_up = false;
  device.rdma[0].ports[0].state = ib::PortState::down;
  CHECK(evaluate_health(device, criteria, kExclusive).is_healthy());
  device.rdma[0].ports[0].guid = ib::Guid();
  CHECK(evaluate_health(device, criteria, kExclusive).reason == UnhealthyReason::no_guid);
}

// The SR-IOV network operator writes "IsRdma": false into every pool that does not ask for RDMA.
const std::vector<Case> kWithoutRdma{
    {"no character device is needed", [](Device& d) { d.char_devices.clear(); }, {}, ""},
    {"no driver", [](Device& d) { d.driver.reset(); }, UnhealthyReason::no_driver,
     "no driver is bound to it"},
    {"no RDMA device", [](Device& d) { d.rdma.clear(); }, UnhealthyReason::no_rdma_device,
     "it has no RDMA device"},
    {"no interface", [](Device& d) { d.netdevs.clear(); }, UnhealthyReason::no_interface,
     "it has no IPoIB interface in the host's namespace: load ib_ipoib"},
    {"no node GUID", [](Device& d) { d.rdma[0].node_guid = ib::Guid(); }, UnhealthyReason::no_guid,
     "mlx5_2 has no node GUID"},
    {"no port GUID", [](Device& d) { d.rdma[0].ports[0].guid = ib::kNoGuid; },
     UnhealthyReason::no_guid, "port 1 of mlx5_2 has no GUID"},
    {"port down", [](Device& d) { d.rdma[0].ports[0].state = ib::PortState::down; },
     UnhealthyReason::port_not_active, "port 1 of mlx5_2 is DOWN"},
    {"port not brought up", [](Device& d) { d.rdma[0].ports[0].state = ib::PortState::init; },
     UnhealthyReason::port_not_active, "port 1 of mlx5_2 is INIT"},
    {"PF without link", [](Device& d) { d.pf_up = false; }, UnhealthyReason::pf_down,
     "the PF 0000:3b:00.0 has no link"},
    {"on vfio-pci",
     [](Device& d) {
       d.driver = "vfio-pci";
       d.rdma.clear();
       d.netdevs.clear();
     },
     {},
     ""},
    {"in a pod",
     [](Device& d) {
       d.attachment = "pod default/trainer-0 (net1)";
       d.rdma.clear();
       d.netdevs.clear();
     },
     {},
     ""},
    {"Ethernet",
     [](Device& d) {
       d.link_type = "ether";
       d.rdma.clear();
     },
     {},
     ""},
};

TEST_CASE("a pool without RDMA asks for all that IPoIB needs, and for no character device") {
  const HealthCriteria criteria{.rdma = false};
  for (const Case& one : kWithoutRdma) {
    CAPTURE(one.what);
    Device device = healthy_vf();
    one.change(device);
    CHECK(evaluate_health(device, criteria, kShared).reason == one.reason);
    CHECK(evaluate_health(device, criteria, kShared).text == one.text);
  }
  Device down = healthy_vf();
  down.rdma[0].ports[0].state = ib::PortState::down;
  CHECK(evaluate_health(down, {.ignore_link = true, .rdma = false}, kShared).is_healthy());
}

TEST_CASE("where each attachment needs a partition, a port that none could be bound at is told") {
  using Kind = BindFault::Kind;
  const std::vector<std::pair<Kind, UnhealthyReason>> kinds{
      {Kind::subnet, UnhealthyReason::wrong_subnet},
      {Kind::certificate, UnhealthyReason::no_certificate},
      {Kind::service, UnhealthyReason::no_sm_service},
      {Kind::guid, UnhealthyReason::unknown_guid}};
  for (const auto& [kind, unhealthy_reason] : kinds) {
    Device device = healthy_vf();
    device.bind_fault = BindFault{kind, "why"};
    for (const bool rdma : {true, false}) {
      CHECK(
          evaluate_health(device, {.rdma = rdma, .partition_required = true}, kExclusive).reason ==
          unhealthy_reason);
      CHECK(evaluate_health(device, {.rdma = rdma, .partition_required = true}, kExclusive).text ==
            "why");
      CHECK(evaluate_health(device, {.rdma = rdma, .partition_required = false}, kExclusive)
                .is_healthy());
    }
    device.rdma[0].ports[0].state = ib::PortState::down;
    CHECK(evaluate_health(device, {.partition_required = true}, kExclusive).reason ==
          UnhealthyReason::port_not_active);
  }
}

TEST_CASE("every ailment has a label of its own") {
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(UnhealthyReason::unknown_guid); ++i) {
    names.push_back(name(UnhealthyReason{i}));
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(std::find(names.begin(), names.end(), "unknown") == names.end());
}

TEST_CASE("the document has a row for every reason, in the order in which they are looked for") {
  const std::string document = read_file("docs/device-plugin.md").value();
  size_t last = 0;
  for (int i = 0; i <= static_cast<int>(UnhealthyReason::unknown_guid); ++i) {
    const std::string row = "\n| `" + std::string(name(UnhealthyReason{i})) + "` |";
    CAPTURE(row);
    const size_t at = document.find(row);
    REQUIRE(at != document.npos);
    CHECK(at > last);
    last = at;
  }
}

}  // namespace
}  // namespace ibpod::device_plugin
