// Every example of sriov-network-device-plugin's documentation, on three nodes: what its rules put
// into which pool, and what ours do. Where they differ the reason stands beside it.
#include "device-plugin/pool_config.h"
#include "device-plugin/test_devices.h"
#include "lib/base/files.h"

#include <algorithm>
#include <map>
#include <set>

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

Device function(const std::string& at, const std::string& id, const std::string& netdev,
                uint32_t vfs) {
  Device pf = test_pf(0, vfs);
  pf.address = address(at);
  pf.device_id = id;
  pf.pf_name = netdev;
  return pf;
}

void add_vfs(std::vector<Device>& node, const Device& pf, const std::string& id) {
  node.push_back(pf);
  for (uint32_t number = 0; number < pf.vfs; ++number) {
    Device vf = test_vf(0, number);
    const std::string tail = vf.address.text().substr(8);
    vf.address = address(pf.address.text().substr(0, 8) + tail);
    vf.pf = pf.address;
    vf.pf_name = pf.pf_name;
    vf.device_id = id;
    vf.link_type = pf.link_type;
    node.push_back(vf);
  }
}

// ConnectX-6: two PFs of 8 VFs, four of which are in partition 1; and a PF without VFs.
std::vector<Device> infiniband() {
  std::vector<Device> node;
  add_vfs(node, function("0000:86:00.0", "101b", "netpf0", 8), "101c");
  for (size_t i = 1; i <= 4; ++i) node[i].rdma[0].ports[0].pkeys = {ib::PKey(0x8001)};
  add_vfs(node, function("0000:af:00.0", "101b", "ib1", 8), "101c");
  add_vfs(node, function("0000:d8:00.0", "101b", "netpf1", 0), "");
  return node;
}

// Ethernet, and InfiniBand whose VF 0 is in a pod, where it cannot be looked at.
std::vector<Device> mixed() {
  std::vector<Device> node;
  Device ethernet = function("0000:3b:00.0", "1017", "ens785f0", 8);
  ethernet.link_type = "ether";
  add_vfs(node, ethernet, "1018");
  add_vfs(node, function("0000:5e:00.0", "101d", "ib0", 4), "101e");
  Device& used = node[10];
  used.attachment = "container c1, net1";
  used.link_type.clear();
  used.rdma.clear();
  used.netdevs.clear();
  return node;
}

// No ib_ipoib, so no netdevs. VFs 0 to 2 are on vfio-pci, VF 3 has no driver. One VF of another
// machine's, passed through: it has no PF here.
std::vector<Device> without_ipoib() {
  std::vector<Device> node;
  add_vfs(node, function("0000:86:00.0", "101d", "", 8), "101e");
  for (size_t i = 1; i <= 4; ++i) {
    node[i].driver = "vfio-pci";
    node[i].link_type.clear();
    node[i].rdma.clear();
    node[i].char_devices.clear();
  }
  node[4].driver.reset();
  for (Device& device : node) device.netdevs.clear();
  Device guest = function("0000:00:07.0", "1018", "", 0);
  guest.driver = "vfio-pci";
  node.push_back(guest);
  return node;
}

struct Row {
  const char* file;
  const char* node;
  const char* pool;
  const char* peers;  // "86#0-3": VFs of 0000:86:00.0; "d8": that function itself
  const char* ours;
  const char* why;  // where they differ
};

const char* const kByName = "a PF is offered only where pciAddresses names it";
const char* const kNumeric = "P_Keys are numbers: \"0x1\" is partition 1; the peer compares text";
const char* const kHidden = "a VF in a pod is not asked for the P_Keys that cannot be seen";
const char* const kNative = "the link type comes from the port, not from an IPoIB interface";
const char* const kDriverless = "a VF without a driver is in its pool, unhealthy until it has one";

// Every pool that is not here is empty by both.
const std::vector<Row> kTable{
    {"readme", "infiniband", "infiniband_rdma_netdevs", "86#0-7 af#0-7 d8", "86#0-7 af#0-7",
     kByName},
    {"readme", "mixed", "infiniband_rdma_netdevs", "5e#0-3", "5e#0-3", ""},
    {"readme", "without_ipoib", "infiniband_rdma_netdevs", "", "86#4-7", kNative},
    {"readme-pf-names", "infiniband", "sriov", "86#0,2-7", "86#0,2-7", ""},
    {"readme-root-devices", "infiniband", "sriov", "86#0-1,3-4", "86#0-1,3-4", ""},
    {"readme-root-devices", "without_ipoib", "sriov", "86#0-1,4", "86#0-1,3-4", kDriverless},
    {"readme-pkeys", "infiniband", "sriov", "", "86#0-3", kNumeric},
    {"readme-pkeys", "mixed", "sriov", "", "5e#0", kHidden},
    {"rdma", "mixed", "mlnx_rdma", "3b#0-7", "3b#0-7", ""},
    {"rdma-old", "mixed", "mlnx_rdma", "3b#0-7", "3b#0-7", ""},
    {"mlnx-dpdk", "mixed", "mlnx_connectx5", "3b#0-7", "3b#0-7", ""},
    {"dpdk-all-nics", "mixed", "nic", "3b#0-7", "3b#0-7", ""},
    {"dpdk-virt", "without_ipoib", "intelnics_radio_uplink", "00:07", "00:07", ""},
    {"subfunctions-cx6dx", "mixed", "cx6dx_vf", "5e#0-3", "5e#0-3", ""},
    {"subfunctions-cx6dx", "without_ipoib", "cx6dx_vf", "86#0-2,4-7", "86#0-7", kDriverless},
    {"config-file-node-0", "mixed", "sriovnics", "3b#0-4", "3b#0-4", ""},
    {"config-file-node-1", "mixed", "sriovnics", "3b#0-7", "3b#0-7", ""}};

using Ids = std::set<std::string>;

// The IDs that a cell of the table means.
Ids ids_of(const std::string& cell, const std::vector<Device>& node) {
  Ids ids;
  size_t at = 0;
  while (at < cell.size()) {
    const size_t end = std::min(cell.find(' ', at), cell.size());
    const PfChoice choice = parse_pf_choice(cell.substr(at, end - at));
    const std::string start = "0000:" + choice.pf;
    for (const Device& device : node) {
      const std::string root = device.pf.value_or(device.address).text();
      const bool whole = choice.vfs.empty() && !device.pf;
      const bool by_number = !choice.vfs.empty() && device.pf && choice.has(device.vf);
      if (root.starts_with(start) && (whole || by_number)) ids.insert(device.address.text());
    }
    at = end + 1;
  }
  return ids;
}

const Row* find_row(const std::string& file, const std::string& node, const std::string& pool) {
  for (const Row& row : kTable) {
    if (row.file == file && row.node == node && row.pool == pool) return &row;
  }
  return nullptr;
}

TEST_CASE("the examples of sriov-network-device-plugin, on three nodes") {
  const std::map<std::string, std::vector<Device>> nodes{
      {"infiniband", infiniband()}, {"mixed", mixed()}, {"without_ipoib", without_ipoib()}};
  const Path folder = "tests/data/pools";
  size_t files = 0;
  size_t rows = 0;
  const auto names = list_folder(folder).value();
  for (const std::string& name : names) {
    if (!name.ends_with(".json")) continue;
    CAPTURE(name);
    const auto document = json::Value::parse(read_file(folder / name).value());
    const PoolConfig config = parse_pools(*document->find("resourceList"), "intel.com").value();
    ++files;
    for (const auto& [title, node] : nodes) {
      for (const PoolContents& contents : assign(config.pools, node)) {
        CAPTURE(title);
        CAPTURE(contents.pool.name);
        Ids found;
        for (const PoolDevice& pool_device : contents.devices) found.insert(pool_device.id);
        const Row* row = find_row(name.substr(0, name.size() - 5), title, contents.pool.name);
        CHECK(found == ids_of(row != nullptr ? row->ours : "", node));
        if (row != nullptr) ++rows;
      }
    }
  }
  CHECK(files == 21);
  CHECK(rows == kTable.size());
}

TEST_CASE("what differs from the peer has its reason, and nothing else has one") {
  for (const Row& row : kTable) {
    CAPTURE(row.file);
    CHECK((std::string(row.peers) == row.ours) == std::string(row.why).empty());
    CHECK_FALSE((std::string(row.peers).empty() && std::string(row.ours).empty()));
  }
}

}  // namespace
}  // namespace ibpod::device_plugin
