// A node with PFs on two fabrics, and a modelled SM service of each.
#pragma once

#include "agent/sm_client/fabrics.h"
#include "agent/sm_client/node_pkey_tables.h"
#include "agent/sm_client/test_sm_service.h"
#include "tests/support/fake_sysfs.h"

namespace ibpod::agent::sm_client {

inline constexpr uint64_t kEast = 0xfe80'0000'0000'0001, kWest = 0xfe80'0000'0000'0002,
                          kUnmanaged = 0xfe80'0000'0000'0009;

struct FakeFabric {
  FakeSmService model;
  config::FabricService service;
  std::unique_ptr<rpc::Server> server;

  FakeFabric(const Path& folder, const std::string& name, uint64_t prefix, uint64_t pool)
      : model(ib::Guid(pool)) {
    service.sm_address.address = "unix:" + (folder / (name + ".sock")).string();
    service.sm_address.fabric = name;
    service.subnet_prefix = ib::Guid(prefix);
    begin();
  }
  void begin() {
    model.served = service.sm_address.fabric;
    server = rpc::Server::serve(service.sm_address.address.substr(5), {&model}).value();
  }
  void leave() { server.reset(); }
};

// A node with a PF on each of two fabrics, a VF of each, and both fabrics' services.
struct TwoRails {
  TempFolder folder;
  node::Records records{folder.path()};
  fake::FakeSysfs tree;
  ib::PciAddress pf[2] = {tree.add_pf(), tree.add_pf()};
  ib::PciAddress vf[2] = {tree.add_vf(pf[0]), tree.add_vf(pf[1])};
  sysfs::Sysfs sysfs = tree.open();
  FakeFabric east{folder.path(), "east", kEast, 0x0200'0000'0000'e000};
  FakeFabric west{folder.path(), "west", kWest, 0x0200'0000'0000'f000};
  std::mutex mutex;
  std::map<std::string, size_t> came_back;  // guarded by mutex
  Duration grace_period = kServiceGracePeriod;
  std::unique_ptr<Fabrics> fabrics;

  TwoRails() {
    REQUIRE(records.make_folder());
    plug(pf[0], kEast);
    plug(pf[1], kWest);
    open({east.service, west.service});
  }
  void open(const std::vector<config::FabricService>& services) {
    fabrics = Fabrics::open(services, deps()).value();
    fabrics->begin();
  }
  FabricsDeps deps() {
    return {records,
            sysfs,
            "n1",
            [](const ib::PciAddress&) { return "ib0"; },
            [this](const auto& ports, const auto& others) {
              const auto pods = [](const node::Namespace&) -> Result<sysfs::Sysfs> {
                return Error(Code::not_found, "no pod");
              };
              return read_node_pkey_tables(ports, others, sysfs, {}, pods);
            },
            [this](const std::string& fabric, const SmStatus& before, const SmStatus& now) {
              const std::scoped_lock lock(mutex);
              if (now.reached && !before.reached) ++came_back[fabric];
            },
            grace_period};
  }
  static std::string gid(uint64_t prefix) {
    return ib::Guid(prefix).text_in_gid() + ":0002:c903:0000:0001";
  }
  void plug(const ib::PciAddress& device, uint64_t prefix) {
    tree.set_port(device, "gids/0", gid(prefix));
  }
  void attach(const std::string& container, const ib::PciAddress& device,
              node::Stage stage = node::Stage::attached) {
    node::Record record = test_record(container, {{"blue"}});
    record.stage = stage;
    record.device = device;
    record.spec.guids = node::Guids{own(device), own(device)};
    REQUIRE(records.write(record));
  }
  static ib::Guid own(const ib::PciAddress& device) {
    return ib::Guid(device.text() == "0000:11:00.1" ? 0x0200'0000'0000'0e01
                                                    : 0x0200'0000'0000'0f01);
  }
  Result<nodeapi::Binding> bind(const std::string& container,
                                nodeapi::Node::Wait wait = nodeapi::Node::Wait::verified) const {
    return fabrics->bind({container, "net1", ""}, wait, Deadline::in(Duration(20'000)));
  }
  Result<nodeapi::Binding> unbind(const std::string& container,
                                  Duration timeout = Duration(20'000)) const {
    return fabrics->unbind({container, "net1", ""}, Deadline::in(timeout));
  }
};

}  // namespace ibpod::agent::sm_client
