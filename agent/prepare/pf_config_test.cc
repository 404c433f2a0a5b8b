#include "agent/prepare/pf_config.h"

#include <doctest/doctest.h>

namespace ibpod::agent::prepare {
namespace {

using json::Value;

PfConfigs parsed(const std::string& list) {
  const Value document = Value::parse("{\"pfs\":" + list + "}").value();
  return parse_pf_configs(document.at("pfs").value());
}

ib::PciAddress address(const char* text) { return ib::PciAddress::parse(text).value(); }

node::Netdev netdev(const std::string& name, const std::vector<std::string>& altnames) {
  node::Netdev netdev;
  netdev.name = name;
  netdev.altnames = altnames;
  return netdev;
}

TEST_CASE("an entry is read with all its keys") {
  const PfConfigs all = parsed(R"([
    {"vendor": "15b3", "deviceID": "0x101B", "rootDevices": ["0000:3B:00.0", "0000:5e:00.0"],
     "pfNames": ["ib0", "ibp59s0f0"], "numVfs": 8, "force": true, "guids": "pool",
     "allowHostUse": true},
    {"pfNames": ["ib4"]}])");
  REQUIRE(all.errors.empty());
  REQUIRE(all.pfs.size() == 2);
  CHECK(all.pfs[0] == PfConfig{"pfs[0]",
                               0x15b3,
                               0x101b,
                               {address("0000:3b:00.0"), address("0000:5e:00.0")},
                               {"ib0", "ibp59s0f0"},
                               8,
                               true,
                               true,
                               true});
  CHECK(all.pfs[1] == PfConfig{"pfs[1]", {}, {}, {}, {"ib4"}, {}, false, false, false});
}

TEST_CASE("GUIDs of others are kept if nothing is said, or that") {
  CHECK_FALSE(parsed(R"([{"vendor": "15b3"}])").pfs.at(0).pool_guids);
  CHECK_FALSE(parsed(R"([{"vendor": "15b3", "guids": "keep"}])").pfs.at(0).pool_guids);
}

const struct {
  const char *list, *error;
} kWrong[] = {
    {"7", "pfs: expected a list, got the number 7"},
    {"[7]", "pfs[0]: expected an object, got the number 7"},
    {"[null]", "pfs[0]: expected an object, got null"},
    {"[{}]",
     "pfs[0]: it selects no PF: set at least one of vendor, deviceID, rootDevices and "
     "pfNames"},
    {R"([{"numVfs": 4}])",
     "pfs[0]: it selects no PF: set at least one of vendor, deviceID, rootDevices and "
     "pfNames"},
    {R"([{"vendor": "15b3", "numvfs": 4}])",
     "pfs[0].numvfs: unknown key; did you mean \"numVfs\"?"},
    {R"([{"vendor": "15b3", "mtu": 4}])",
     "pfs[0].mtu: unknown key, expected one of vendor, deviceID, rootDevices, "
     "pfNames, numVfs, force, guids, allowHostUse"},
    {R"([{"vendor": "15b3", "guids": "replace"}])",
     "pfs[0].guids: expected keep or pool, got \"replace\""},
    {R"([{"vendor": "15b3", "guids": true}])", "pfs[0].guids: expected a string, got true"},
    {R"([{"vendor": 5555}])", "pfs[0].vendor: expected a string, got the number 5555"},
    {R"([{"vendor": "mellanox"}])",
     "pfs[0].vendor: \"mellanox\" is not a PCI ID: expected 4 hex digits, such as \"15b3\""},
    {R"([{"vendor": "15b"}])",
     "pfs[0].vendor: \"15b\" is not a PCI ID: expected 4 hex digits, such as \"15b3\""},
    {R"([{"deviceID": "101b5"}])",
     "pfs[0].deviceID: \"101b5\" is not a PCI ID: expected 4 hex digits, such as \"15b3\""},
    {R"([{"deviceID": "-01b"}])",
     "pfs[0].deviceID: \"-01b\" is not a PCI ID: expected 4 hex digits, such as \"15b3\""},
    {R"([{"deviceID": ""}])",
     "pfs[0].deviceID: \"\" is not a PCI ID: expected 4 hex digits, such as \"15b3\""},
    {R"([{"rootDevices": "0000:3b:00.0"}])",
     "pfs[0].rootDevices: expected a list, got the string \"0000:3b:00.0\""},
    {R"([{"rootDevices": []}])",
     "pfs[0].rootDevices: the list is empty: remove the key, or add an entry"},
    {R"([{"rootDevices": ["0000:3b:00.0", "3b:00.0"]}])",
     "pfs[0].rootDevices[1]: \"3b:00.0\" is not a PCI address: write 0000:3b:00.0"},
    {R"([{"rootDevices": ["0000:3b:00.0#0-3"]}])",
     "pfs[0].rootDevices[0]: \"0000:3b:00.0#0-3\" is not a PCI address: expected a form such as "
     "0000:3b:00.2"},
    {R"([{"rootDevices": ["0000:3b:00.0", "0000:3B:00.0"]}])",
     "pfs[0].rootDevices[1]: \"0000:3B:00.0\" is listed twice"},
    {R"([{"pfNames": ["ib0#0-3"]}])",
     "pfs[0].pfNames[0]: \"ib0#0-3\" has a range of VFs, which is for pools only: expected "
     "the PF's interface, such as \"ib0\""},
    {R"([{"pfNames": [""]}])",
     "pfs[0].pfNames[0]: \"\" is not the name of an interface: expected one such as \"ib0\""},
    {R"([{"pfNames": ["a/b"]}])",
     "pfs[0].pfNames[0]: \"a/b\" is not the name of an interface: expected one such as \"ib0\""},
    {R"([{"pfNames": ["ib 0"]}])",
     "pfs[0].pfNames[0]: \"ib 0\" is not the name of an interface: expected one such as \"ib0\""},
    {R"([{"pfNames": [0]}])", "pfs[0].pfNames[0]: expected a string, got the number 0"},
    {R"([{"pfNames": ["ib0", "ib0"]}])", "pfs[0].pfNames[1]: \"ib0\" is listed twice"},
    {R"([{"vendor": "15b3", "numVfs": -1}])",
     "pfs[0].numVfs: expected a whole number from 0 to 254, got the number -1"},
    {R"([{"vendor": "15b3", "numVfs": 255}])",
     "pfs[0].numVfs: expected a whole number from 0 to 254, got the number 255"},
    {R"([{"vendor": "15b3", "numVfs": 1.5}])",
     "pfs[0].numVfs: expected a whole number, got the number 1.5"},
    {R"([{"vendor": "15b3", "numVfs": "8"}])",
     "pfs[0].numVfs: expected a whole number, got the string \"8\""},
    {R"([{"vendor": "15b3", "force": "yes"}])",
     "pfs[0].force: expected true or false, got the string \"yes\""},
    {R"([{"vendor": "15b3", "force": null}])", "pfs[0].force: expected true or false, got null"},
    {R"([{"vendor": "15b3", "allowHostUse": 1}])",
     "pfs[0].allowHostUse: expected true or false, got the number 1"},
};

TEST_CASE("a wrong entry is refused with its place, its value and what would be right") {
  for (const auto& entry : kWrong) {
    CAPTURE(entry.list);
    const PfConfigs all = parsed(entry.list);
    REQUIRE(all.errors.size() == 1);
    CHECK(all.errors[0].code() == Code::invalid);
    CHECK(all.errors[0].text() == entry.error);
    CHECK(all.pfs.empty());
  }
}

TEST_CASE("every error is told, and entries without one are kept") {
  const PfConfigs all =
      parsed(R"([{"vendor": "x", "numVfs": -1}, {"pfNames": ["ib0"]}, {"force": true}])");
  CHECK(all.errors.size() == 3);
  REQUIRE(all.pfs.size() == 1);
  CHECK(all.pfs[0].path == "pfs[1]");
}

TEST_CASE("a PF is chosen by all that an entry says") {
  const node::Pf pf{address("0000:3b:00.0"), 0x15b3, 0x101b, "mlx5_core", 16, true, {}};
  const std::vector<node::Netdev> netdevs{netdev("ib0", {"ibp59s0f0"})};
  const struct {
    const char* entry;
    bool chosen;
  } cases[] = {
      {R"({"vendor": "15b3"})", true},
      {R"({"vendor": "8086"})", false},
      {R"({"vendor": "15b3", "deviceID": "101d"})", false},
      {R"({"rootDevices": ["0000:3b:00.1", "0000:3b:00.0"]})", true},
      {R"({"rootDevices": ["0000:3b:00.1"]})", false},
      {R"({"pfNames": ["ib7", "ib0"]})", true},
      {R"({"pfNames": ["ibp59s0f0"]})", true},
      {R"({"pfNames": ["ib1"]})", false},
      {R"({"vendor": "15b3", "deviceID": "101b", "rootDevices": ["0000:3b:00.0"],
           "pfNames": ["ib0"]})",
       true},
      {R"({"vendor": "15b3", "pfNames": ["ib1"]})", false},
  };
  for (const auto& entry : cases) {
    CAPTURE(entry.entry);
    const PfConfigs all = parsed("[" + std::string(entry.entry) + "]");
    REQUIRE(all.pfs.size() == 1);
    CHECK(matches_pf(all.pfs[0], pf, netdevs) == entry.chosen);
  }
}

}  // namespace
}  // namespace ibpod::agent::prepare
