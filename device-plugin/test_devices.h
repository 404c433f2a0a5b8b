// Devices for tests: a ConnectX-6 with two InfiniBand PFs, made in memory.
#pragma once

#include "device-plugin/device.h"

#include <string>
#include <vector>

namespace ibpod::device_plugin {

inline ib::PciAddress address(const std::string& text) {
  return ib::PciAddress::parse(text).value();
}

// 0000:3b:00.0 and 0000:5e:00.0, …, one on each NUMA node.
inline Device test_pf(uint32_t number, uint32_t vfs) {
  static const std::vector<std::string> kBuses{"3b", "5e", "86", "af"};
  Device pf;
  pf.address = address("0000:" + kBuses.at(number) + ":00.0");
  pf.vendor = "15b3";
  pf.device_id = "101b";
  pf.driver = "mlx5_core";
  pf.pf_name = "ib" + std::to_string(number);
  pf.vfs = vfs;
  pf.link_type = "infiniband";
  pf.numa = static_cast<int>(number % 2);
  pf.pcie_root = "pci0000:" + kBuses.at(number);
  pf.rail = number;
  pf.netdevs = {pf.pf_name};
  ib::Port port{ib::PortState::active, 1, ib::Guid(0x0200 + number), {ib::kDefaultFull}};
  pf.rdma = {{"mlx5_" + std::to_string(number), ib::Guid(0x0200 + number), {port}}};
  return pf;
}

// VF 0 is 0000:3b:00.1; its character devices have the number 10 × PF + VF.
inline Device test_vf(uint32_t pf, uint32_t number) {
  Device vf = test_pf(pf, 0);
  const std::string function = vf.address.text();
  vf.pf = vf.address;
  vf.address = address(function.substr(0, 8) + (number < 7 ? "00." : "01.") +
                       std::to_string((number + 1) % 8));
  vf.device_id = "101c";
  vf.vf = number;
  const std::string n = std::to_string(10 * pf + number);
  vf.char_devices = {"issm" + n, "umad" + n, "uverbs" + n};
  vf.netdevs = {"ib" + std::to_string(pf) + "v" + std::to_string(number)};
  const ib::Guid guid(0x0200000000000000 + 10 * pf + number + 1);
  vf.rdma[0].name = "mlx5_" + std::to_string(2 + 10 * pf + number);
  vf.rdma[0].node_guid = guid;
  vf.rdma[0].ports[0].guid = guid;
  return vf;
}

// The PFs and all their VFs.
inline std::vector<Device> test_node(uint32_t pfs, uint32_t vfs) {
  std::vector<Device> devices;
  for (uint32_t pf = 0; pf < pfs; ++pf) {
    devices.push_back(test_pf(pf, vfs));
    for (uint32_t vf = 0; vf < vfs; ++vf) devices.push_back(test_vf(pf, vf));
  }
  return devices;
}

}  // namespace ibpod::device_plugin
