#include "device-plugin/pool_config.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

Result<PoolConfig> read(const std::string& pools) {
  const auto document = json::Value::parse(R"({"resourceList":)" + pools + "}");
  return parse_pools(*document->find("resourceList"), "example.com");
}
PoolConfig good(const std::string& pools) { return read(pools).value(); }
// One pool of this name, with more keys; or with one selector.
std::string named(const std::string& keys) { return R"([{"resourceName":"a",)" + keys + "}]"; }
std::string selecting(const std::string& keys) { return named(R"("selectors":[{)" + keys + "}]"); }

TEST_CASE("a name is all that a pool needs, and the rest has its defaults") {
  const PoolConfig config = good(R"([{"resourceName":"ib_vfs"}])");
  Pool expected;
  expected.prefix = "example.com";
  expected.name = "ib_vfs";
  CHECK(config.pools == std::vector<Pool>{expected});
  CHECK(config.warnings.empty());
  CHECK(expected.isolation);
  CHECK(expected.cdi);
  CHECK(expected.device_nodes == std::vector<std::string>{"uverbs", "rdma_cm"});
}

TEST_CASE("every key is read") {
  const Pool pool = good(named(R"("resourcePrefix":"intel.com","deviceType":"netDevice",
    "excludeTopology":true,"isolation":false,"ignoreLink":true,"cdi":false,"policy":"numa",
    "deviceNodes":["uverbs"],"additionalInfo":{"*":{"k":"v"},"0000:3B:00.1":{"k":"w"}},
    "selectors":[{"vendors":["15B3"],"devices":["101e"],"drivers":["mlx5_core"],
      "pciAddresses":["0000:3B:00.2"],"acpiIndexes":["101"],"pfNames":["ib0#1"],
      "rootDevices":["0000:3B:00.0#1-2"],"linkTypes":["infiniband"],"isRdma":true,
      "needVhostNet":false,"pKeys":["0x8001",3],"linkStates":["active","INIT"],"guidValid":true,
      "rails":[0,1]},{}])"))
                        .pools[0];
  CHECK(pool.resource() == "intel.com/a");
  CHECK(pool.exclude_topology);
  CHECK_FALSE(pool.isolation);
  CHECK(pool.ignore_link);
  CHECK_FALSE(pool.cdi);
  CHECK(pool.policy == Policy::numa);
  CHECK(pool.device_nodes == std::vector<std::string>{"uverbs"});
  CHECK(pool.additional_info ==
        AdditionalInfo{{"*", {{"k", "v"}}}, {"0000:3b:00.1", {{"k", "w"}}}});
  REQUIRE(pool.selectors.size() == 2);
  const Selector& selector = pool.selectors[0];
  CHECK(selector.vendors == std::vector<std::string>{"15b3"});
  CHECK(selector.pci_addresses[0].text() == "0000:3b:00.2");
  CHECK(selector.acpi_indexes == std::vector<uint32_t>{101});
  CHECK(selector.root_devices[0].pf == "0000:3b:00.0");
  CHECK(selector.pkeys == std::vector<ib::PKey>{ib::PKey(0x8001), ib::PKey(3)});
  CHECK(selector.link_states ==
        std::vector<ib::PortState>{ib::PortState::active, ib::PortState::init});
  CHECK(selector.rdma == true);
  CHECK(selector.guid_valid == true);
  CHECK(selector.rails == std::vector<uint32_t>{0, 1});
  CHECK(pool.selectors[1] == Selector());
}

TEST_CASE("selectors may be one object, null or missing") {
  CHECK(good(named(R"("selectors":{"vendors":["15b3"]})")).pools[0].selectors.size() == 1);
  CHECK(good(named(R"("selectors":null)")).pools[0].selectors.empty());
}

TEST_CASE("a pool of tickets") {
  const Pool pool =
      good(named(R"("deviceType":"ipoibTicket","tickets":64,"selectors":{"pfNames":["ib0"]})"))
          .pools[0];
  CHECK(pool.kind == PoolKind::ipoib_slot);
  CHECK(pool.ipoib_slots == 64);
}

struct Case {
  std::string pools;
  const char* says;
};

void check_refused(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    CAPTURE(one.pools);
    const auto config = read(one.pools);
    REQUIRE_FALSE(config);
    CHECK(config.error().code() == Code::invalid);
    CAPTURE(config.error().text());
    CHECK(config.error().text().find(one.says) != std::string::npos);
  }
}

TEST_CASE("a bad pool is refused with path, value and what would be right") {
  check_refused(
      {{"7", "resourceList: expected a list, got the number 7"},
       {"[7]", "resourceList[0]: expected an object, got the number 7"},
       {"[{}]", "resourceList[0]: the key \"resourceName\" is missing"},
       {R"([{"resourceName":7}])",
        "resourceList[0].resourceName: expected a string, got the number 7"},
       {R"([{"resourceName":""}])", "resourceList[0].resourceName: \"\" is not a resource name"},
       {R"([{"resourceName":"a."}])",
        "resourceList[0].resourceName: \"a.\" is not a resource name"},
       {R"([{"resourceName":")" + std::string(64, 'a') + "\"}]", "1 to 63 letters"},
       {R"([{"resourceName":"a"},{"resourceName":"a"}])",
        "resourceList[1]: the resource example.com/a is defined already, as resourceList[0]"},
       {named(R"("resourcePrefix":"Intel.com")"),
        "resourcePrefix: \"Intel.com\" is not a DNS subdomain"},
       {named(R"("resourcePrefix":"a/b")"), "resourcePrefix: \"a/b\" is not a DNS subdomain"},
       {named(R"("resourcePrefix":"kubernetes.io")"), "is reserved for Kubernetes"},
       {named(R"("resourcePrefix":"requests.a")"), "begins with \"requests.\""},
       {named(R"("deviceType":"gpu")"),
        "deviceType: expected netDevice, ipoibTicket, accelerator or auxNetDevice, got "
        "\"gpu\""},
       {named(R"("excludeTopology":"yes")"), "excludeTopology: expected true or false"},
       {named(R"("isolation":1)"), "isolation: expected true or false, got the number 1"},
       {named(R"("ignoreLink":{})"), "ignoreLink: expected true or false, got an object"},
       {named(R"("cdi":"annotation")"), "cdi: expected true or false"},
       {named(R"("policy":"balanced")"),
        R"(policy: expected packed, spread or numa, got "balanced")"},
       {named(R"("policy":7)"), "policy: expected a string"},
       {named(R"("deviceNodes":"umad")"), "deviceNodes: expected a list, got the string \"umad\""},
       {named(R"("deviceNodes":["ucm"])"),
        R"(deviceNodes[0]: expected uverbs, rdma_cm, umad or issm, got "ucm")"},
       {named(R"("tickets":4)"), "\"tickets\" is only for \"deviceType\": \"ipoibTicket\""},
       {named(R"("deviceType":"ipoibTicket")"), "the key \"tickets\" is missing"},
       {named(R"("deviceType":"ipoibTicket","tickets":0)"),
        "tickets: expected a whole number from 1"},
       {named(R"("additionalInfo":["k"])"), "additionalInfo: expected an object, got a list"},
       {named(R"("additionalInfo":{"*":{"k":7}})"), "additionalInfo.*.k: expected a string"},
       {named(R"("additionalInfo":{"3b:00.1":{}})"), "\"3b:00.1\" is not a PCI address"},
       {named(R"("resorceprefix":"x")"),
        "resourceList[0].resorceprefix: unknown key; did you mean \"resourcePrefix\"?"},
       {named(R"("isolation":true,"Isolation":false)"), "differ only in case"},
       {named(R"("selectors":"15b3")"), "selectors: expected an object or a list of objects"},
       {named(R"("selectors":["15b3"])"), "selectors[0]: expected an object, got the string"}});
}

TEST_CASE("a bad selector is refused with path, value and what would be right") {
  check_refused(
      {{selecting(R"("vendor":["15b3"])"),
        "resourceList[0].selectors[0].vendor: unknown key; did you mean \"vendors\"?"},
       {selecting(R"("vendors":"15b3")"), "selectors[0].vendors: expected a list"},
       {selecting(R"("vendors":[15])"), "vendors[0]: expected a string, got the number 15"},
       {selecting(R"("vendors":["0x15b3"])"), "vendors[0]: \"0x15b3\" is not a PCI ID"},
       {selecting(R"("devices":["101"])"),
        "devices[0]: \"101\" is not a PCI ID: expected 4 hex digits"},
       {selecting(R"("pciAddresses":["0000:3b:00.2","3b:00.3"])"),
        "pciAddresses[1]: \"3b:00.3\" is not a PCI address: write 0000:3b:00.3"},
       {selecting(R"("rootDevices":["ib0#1"])"), "rootDevices[0]: \"ib0\" is not a PCI address"},
       {selecting(R"("pfNames":["#1-2"])"), "pfNames[0]: \"#1-2\" names no PF"},
       {selecting(R"("acpiIndexes":["x"])"), "acpiIndexes[0]: \"x\" is not an ACPI index"},
       {selecting(R"("acpiIndexes":[101])"), "acpiIndexes[0]: expected a string"},
       {selecting(R"("pKeys":["1000"])"), "pKeys[0]: \"1000\" is ambiguous"},
       {selecting(R"("pKeys":["blue"])"), "pKeys[0]: \"blue\" is not a P_Key"},
       {selecting(R"("pKeys":["0x8000"])"), "pKeys[0]: 0x8000 is not a P_Key"},
       {selecting(R"("pKeys":[70000])"), "pKeys[0]: 70000 is not a P_Key: expected 1 to 65535"},
       {selecting(R"("isRdma":"true")"), "isRdma: expected true or false, got the string \"true\""},
       {selecting(R"("isRdma":true,"vdpaType":"vhost")"), "vdpaType \"vhost\" and isRdma exclude"},
       {selecting(R"("linkStates":["UP"])"), "linkStates[0]: \"UP\" is not a port state"},
       {selecting(R"("guidValid":0)"), "guidValid: expected true or false"},
       {selecting(R"("rails":[-1])"), "rails[0]: expected a whole number from 0 to 255"},
       {selecting(R"("rails":["0"])"), "rails[0]: expected a whole number"},
       {selecting(R"("ddpProfiles":"x")"), "ddpProfiles: expected a list"}});
}

TEST_CASE("where resourceList is missing, the warning names it all the same") {
  CHECK(
      parse_pools(json::Value::array(), "example.com")->warnings ==
      std::vector<std::string>{"resourceList: no pools are configured, so no devices are offered"});
}

TEST_CASE("what does not apply here, or means something else to the peer, is a warning") {
  const std::vector<Case> cases{
      {"[]", "resourceList: no pools"},
      {named(R"("deviceType":"accelerator")"), "deviceType: \"accelerator\" is not supported"},
      {named(R"("deviceType":"auxNetDevice")"), "is left to another plugin"},
      {named(R"("isRdma":true)"), "resourceList[0].isRdma: it is ignored"},
      {named(R"("SelectorObj":{})"), "resourceList[0].SelectorObj: it is ignored"},
      {named(R"("deviceNodes":["uverbs","umad"])"), "deviceNodes[1]: pods of this pool can send"},
      {named(R"("resourcePrefix":"3com.com")"), "resourceList[0].cdi: CDI is off for this pool"},
      {R"([{"resourceName":"a.b"},{"resourceName":"a_b"}])",
       "share the environment variable PCIDEVICE_EXAMPLE_COM_A_B"},
      {R"([{"resourceName":"a-b"}])", "PCIDEVICE_EXAMPLE_COM_A-B, which no shell can read"},
      {R"([{"resourceName":"ib"},{"resourceName":"IB"}])", "share the environment variable"},
      {selecting(R"("IsRdma":true)"), "resourceList[0].selectors[0].IsRdma is read as isRdma"},
      {selecting(R"("needVhostNet":true)"), "selectors[0].needVhostNet: it is ignored"},
      {selecting(R"("ddpProfiles":["x"])"),
       "selectors[0].ddpProfiles: no InfiniBand device has it"},
      {selecting(R"("vdpaType":"vhost")"), "vdpaType: no InfiniBand device has it"},
      {selecting(R"("auxTypes":["sf"])"), "auxTypes: no InfiniBand device has it"},
      {selecting(R"("linkTypes":["ib"])"), "linkTypes[0]: \"ib\" selects nothing: expected"},
      {selecting(R"("pfNames":["ib0#1-"])"), "pfNames[0]: \"ib0#1-\" selects nothing"},
      {selecting(R"("pfNames":["ib0#0-3","ib0#6"])"), "pfNames[1]: \"ib0#6\" names ib0 again"},
      {selecting(R"("rootDevices":["0000:3b:00.0#1","0000:3B:00.0#2"])"), "rootDevices[1]: "},
      {selecting(R"("pKeys":["0x1"])"), "pKeys[0]: \"0x1\" is read as the number 0x0001"},
      {selecting(R"("pKeys":["0xABCD"])"), "pKeys[0]: \"0xABCD\" is read as the number 0xabcd"},
      {selecting(R"("pKeys":[32769])"), "pKeys[0]: 32769 is read as the number 0x8001"},
      {R"([{"resourceName":"a","selectors":{"pfNames":["ib0#0-4"]}},
           {"resourceName":"b","selectors":{"pfNames":["ib0#4-7"]}}])",
       "example.com/b: \"ib0#4-7\" overlaps \"ib0#0-4\" of example.com/a from VF 4 on"}};
  for (const Case& one : cases) {
    CAPTURE(one.pools);
    const PoolConfig config = good(one.pools);
    CHECK(std::any_of(config.warnings.begin(), config.warnings.end(), [&](const std::string& text) {
      return text.find(one.says) != std::string::npos;
    }));
  }
}

TEST_CASE("what is as the peer means it is no warning") {
  for (const std::string& pools :
       {selecting(R"("pKeys":["0x8001","0x0001"])"), selecting(R"("pfNames":["ib0#0-3","ib1#6"])"),
        selecting(R"("ddpProfiles":[],"vdpaType":"","needVhostNet":false)"),
        std::string(R"([{"resourceName":"a","selectors":{"pfNames":["ib0#0-4"],"drivers":["x"]}},
             {"resourceName":"b","selectors":{"pfNames":["ib0"],"drivers":["y"]}}])"),
        std::string(R"([{"resourceName":"a","selectors":{"pfNames":["ib0"]}},
             {"resourceName":"b","selectors":{"pfNames":["ib0"]}}])")}) {
    CAPTURE(pools);
    CHECK(good(pools).warnings.empty());
  }
}

}  // namespace
}  // namespace ibpod::device_plugin
