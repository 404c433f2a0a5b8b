// A node for `doctor`, all of whose checks are content: its kernel is modelled, the rest is files.
#pragma once

#include "ctl/machine.h"
#include "tests/support/fake_kernel.h"
#include "tests/support/temp_folder.h"

#include <fstream>

namespace ibpod::ctl::test {

struct Node {
  TempFolder folder;
  fake::FakeKernel k = fake::one_vf_node();
  const ib::PciAddress pf = fake::pf_address(0), vf = fake::vf_address(0, 0);

  Node() {
    k.state.rdma_mode = nl::RdmaNetnsMode::exclusive;
    const node::Function function = *k.function(vf).value();
    k.set_vf_guids(function, ib::Guid(0x0200000000000001), ib::Guid(0x0200000000000001)).value();
    k.set_vf_policy(function, nl::LinkPolicy::automatic).value();
    write("proc/sys/kernel/osrelease", "6.1.0-56-amd64\n");
    write("proc/7/comm", "containerd\n");
    limit("unlimited");
    for (const char* module : {"ib_core", "ib_uverbs", "ib_ipoib", "rdma_ucm"}) modprobe(module);
    add_adapter();
    for (const char* socket : {"device-plugins", "pod-resources"})
      write("kubelet/" + std::string(socket) + "/kubelet.sock", "");
    write("agent.sock", "");
    for (const char* plugin : {"ib-sriov", "ipoib"}) install(plugin);
  }

  Path at(const std::string& path) const { return folder.path() / path; }
  void write(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories(at(path).parent_path());
    std::ofstream(at(path)) << content;
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(at(path)); }
  static std::string device(const ib::PciAddress& function) {
    return "sys/bus/pci/devices/" + function.text();
  }
  static std::string port(const std::string& file) {
    return "sys/class/infiniband/mlx5_0/ports/1/" + file;
  }

  // The effects of commands.
  void modprobe(const std::string& module) const {
    std::filesystem::create_directories(at("sys/module/" + module));
  }
  void probe(const ib::PciAddress& function) const {
    remove(device(function) + "/driver");
    std::filesystem::create_symlink("../../drivers/mlx5_core", at(device(function) + "/driver"));
  }
  void limit(const std::string& soft) const {
    write("proc/7/limits", "Max locked memory         " + soft + "    unlimited    bytes\n");
  }
  void install(const std::string& plugin) const {
    write("bin/" + plugin, "#!");
    std::filesystem::permissions(at("bin/" + plugin), std::filesystem::perms(0755));
  }
  void add_adapter() const {
    write(device(pf) + "/class", "0x020700\n");
    write(device(pf) + "/sriov_totalvfs", "16\n");
    write(device(pf) + "/infiniband/mlx5_0/node_type", "1: CA\n");
    write(device(pf) + "/infiniband_verbs/uverbs0/dev", "231:192\n");
    write(port("link_layer"), "InfiniBand\n");
    write(device(vf) + "/class", "0x020700\n");
    std::filesystem::create_symlink("../" + vf.text(), at(device(pf) + "/virtfn0"));
    std::filesystem::create_symlink("../" + pf.text(), at(device(vf) + "/physfn"));
    probe(pf);
    probe(vf);
  }

  MachinePaths paths() const {
    MachinePaths all;
    all.sys = at("sys");
    all.proc = at("proc");
    all.kubelet = at("kubelet");
    all.plugins = at("bin");
    all.state = at("state");
    all.agent = at("agent.sock");
    return all;
  }
  Machine look() { return read_machine(paths(), &k).value(); }
};

}  // namespace ibpod::ctl::test
