// A node with PFs on two fabrics, and a modelled SM service of each.
#pragma once

#include "agent/sm_client/fabrics.h"
#include "agent/sm_client/pkey_tables.h"
#include "agent/sm_client/test_sm_service.h"
#include "tests/support/fake_sysfs.h"

namespace ibpod::agent {

inline constexpr uint64_t kEast = 0xfe80'0000'0000'0001, kWest = 0xfe80'0000'0000'0002,
                          kNobodys = 0xfe80'0000'0000'0009;

struct Served {
  ModelService model;
  FabricService service;
  std::unique_ptr<grpc::Service> served;
  std::unique_ptr<rpc::Server> server;

  Served(const Path& folder, const std::string& name, uint64_t prefix, uint64_t pool)
      : model(ib::Guid(pool)) {
    service.place.address = "unix:" + (folder / (name + ".sock")).string();
    service.place.fabric = name;
    service.subnet_prefix = ib::Guid(prefix);
    begin();
  }
  void begin() {
    fabricapi::ServiceSettings settings;
    settings.fabric = service.place.fabric;
    served = fabricapi::serve(model, as_node, settings);
    server = rpc::Server::serve(service.place.address.substr(5), {served.get()}).value();
  }
  void leave() {
    server.reset();
    served.reset();
  }
};

// A node with a PF on each of two fabrics, a VF of each, and both fabrics' services.
struct TwoRails {
  TempFolder folder;
  node::Records records{folder.path()};
  fake::FakeSysfs tree;
  ib::PciAddress pf[2] = {tree.add_pf(), tree.add_pf()};
  ib::PciAddress vf[2] = {tree.add_vf(pf[0]), tree.add_vf(pf[1])};
  sysfs::Sysfs sysfs = tree.open();
  Served east{folder.path(), "east", kEast, 0x0200'0000'0000'e000};
  Served west{folder.path(), "west", kWest, 0x0200'0000'0000'f000};
  std::mutex mutex;
  std::map<std::string, size_t> came_back;  // guarded by mutex
  Duration away = kServiceAway;
  std::unique_ptr<Fabrics> fabrics;

  TwoRails() {
    REQUIRE(records.make_folder());
    plug(pf[0], kEast);
    plug(pf[1], kWest);
    open({east.service, west.service});
  }
  void open(const std::vector<FabricService>& services) {
    fabrics = Fabrics::open(services, world()).value();
    fabrics->begin();
  }
  FabricsWorld world() {
    return {records,
            sysfs,
            "n1",
            [](const ib::PciAddress&) { return "ib0"; },
            [this](const auto& ports, const auto& others) {
              const auto pods = [](const node::Namespace&) -> Result<sysfs::Sysfs> {
                return Error(Code::not_found, "no pod");
              };
              return read_tables(ports, others, sysfs, {}, pods);
            },
            [this](const std::string& fabric, const Contact& before, const Contact& now) {
              const std::scoped_lock lock(mutex);
              if (now.reached && !before.reached) ++came_back[fabric];
            },
            away};
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
    record.wanted.guids = node::Guids{own(device), own(device)};
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
                                  Duration patience = Duration(20'000)) const {
    return fabrics->unbind({container, "net1", ""}, Deadline::in(patience));
  }
};

}  // namespace ibpod::agent
