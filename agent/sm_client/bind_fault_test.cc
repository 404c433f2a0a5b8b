#include "agent/sm_client/test_tls_rail.h"
#include "lib/node/boot_id.h"

#include <atomic>

namespace ibpod::agent::sm_client {
namespace {

using device_plugin::BindFault;
using device_plugin::Device;
using Kind = BindFault::Kind;

constexpr ib::Guid kOwn{0x0200'0000'0000'0e01}, kPf{0x0002'c903'0000'0001};

Device device(const ib::PciAddress& address, std::optional<ib::PciAddress> pf, ib::Guid guid) {
  Device one;
  one.address = address;
  one.pf = pf;
  one.rdma = {
      {.name = "mlx5_2", .node_guid = guid, .ports = {{ib::PortState::active, 1, guid, {}}}}};
  return one;
}

struct Rails : TwoRails {
  std::optional<BindFault> fault(const Device& one) const {
    std::vector<Device> devices{one};
    fabrics->set_bind_faults(devices);
    return devices.front().bind_fault;
  }
  Device east_vf() const { return device(vf[0], pf[0], kOwn); }
  bool becomes(std::optional<Kind> kind) const {
    return in_time([&] {
      const auto now = fault(east_vf());
      return kind ? now && now->kind == *kind : !now;
    });
  }
};

TEST_CASE_FIXTURE(Rails, "a VF of a PF on another subnet can be bound nowhere") {
  REQUIRE(becomes({}));
  plug(pf[0], kUnmanaged);
  const auto found = fault(east_vf());
  REQUIRE(found);
  CHECK(found->kind == Kind::subnet);
  attach("c1", vf[0]);
  CHECK(found->text == bind("c1").error().text());
  Device used = east_vf();
  used.attachment = "pod lab/trainer-0 (net1)";
  CHECK_FALSE(fault(used));
  CHECK_FALSE(fault(device(vf[1], pf[1], kOwn)));
  tree.set_port(pf[0], "state", "1: DOWN");  // which is said of its link
  CHECK_FALSE(fault(east_vf()));
  tree.set_port(pf[0], "state", "4: ACTIVE");
  plug(pf[0], kEast);
  CHECK(becomes({}));
}

TEST_CASE_FIXTURE(Rails, "a VF of a PF whose port is not to be seen can be bound nowhere") {
  tree.unbind(pf[0]);
  const auto found = fault(east_vf());
  REQUIRE(found);
  CHECK(found->text.starts_with("cannot read the PF of 0000:11:00.0"));
}

TEST_CASE_FIXTURE(Rails, "a port that its service does not know for the node's is told at once") {
  std::atomic<bool> synced = false;
  east.model.set_lease(Duration(3'600'000), [&] { synced = true; });
  east.model.set_unknown({kOwn, kPf});
  REQUIRE(in_time([&] { return synced && fabrics->sm_statuses().at("east").reached; }));
  east.model.set_lease(Duration(300), {});  // said by the next answer
  const size_t before = east.model.syncs();
  const Device of_east = east_vf(), the_pf = device(pf[0], {}, kPf);
  fabrics->set_ports(ports_of({of_east, the_pf}));
  REQUIRE(becomes(Kind::guid));
  CHECK(east.model.syncs() > before);
  CHECK(east.model.synced().vfs == std::vector{kOwn});
  CHECK(east.model.synced().pfs == std::vector{kPf});
  CHECK(east.model.synced().boot == node::read_boot_id().value());
  CHECK(fault(of_east)->text == "the SM service of fabric east does not know port " + kOwn.text() +
                                    " as a VF of this node");
  CHECK(fault(the_pf)->text.ends_with("as a PF of this node"));
  CHECK_FALSE(fault(device(vf[1], pf[1], kOwn)));  // west does
  east.leave();                                    // what it has said stays true
  REQUIRE(in_time([&] { return !fabrics->sm_statuses().at("east").reached; }));
  CHECK(fault(of_east)->kind == Kind::guid);
  east.model.set_unknown({});
  east.begin();
  CHECK(becomes({}));
}

TEST_CASE_FIXTURE(Rails, "a service is told of ports that were seen before it was asked") {
  Device used = device(vf[1], pf[1], kPf);
  used.attachment = "pod lab/trainer-0 (net1)";
  fabrics = Fabrics::open({east.service, west.service}, deps()).value();
  fabrics->set_ports(ports_of({east_vf(), used}));  // a pod's is not to be given to another
  fabrics->begin();
  CHECK(in_time([&] { return east.model.synced().vfs == std::vector{kOwn}; }));
}

TEST_CASE_FIXTURE(Rails, "a service that is away for a moment makes no device unhealthy") {
  REQUIRE(in_time([&] { return fabrics->sm_statuses().at("east").reached; }));
  east.leave();
  REQUIRE(in_time([&] { return !fabrics->sm_statuses().at("east").reached; }));
  CHECK_FALSE(fault(east_vf()));
}

TEST_CASE_FIXTURE(Rails, "one that is away for longer does, until it is back") {
  fabrics.reset();
  grace_period = Duration(1);
  open({east.service, west.service});
  REQUIRE(in_time([&] { return fabrics->sm_statuses().at("east").reached; }));
  CHECK_FALSE(fault(east_vf()));
  east.leave();
  REQUIRE(becomes(Kind::service));
  CHECK(fault(east_vf())->text ==
        "the SM service of fabric east cannot be reached: run ibpodctl doctor for the cause");
  CHECK(in_time([&] { return !fault(device(vf[1], pf[1], kOwn)); }));
  east.begin();
  CHECK(becomes({}));
}

// Over TLS, with a certificate of this node's that has expired.
struct CertificateFixture : Rails {
  TlsRail tls{east, {.common_name = "n1", .from = -60, .until = -30}};

  CertificateFixture() {
    fabrics.reset();
    open({tls.service});
  }
  ~CertificateFixture() { fabrics.reset(); }
  NodeCertificate certificate() const { return fabrics->certificates().at("east"); }
};

TEST_CASE_FIXTURE(CertificateFixture,
                  "an expired certificate stops nothing but its fabric, and is told with its end") {
  REQUIRE(in_time([&] { return !fabrics->sm_statuses().at("east").error.empty(); }));
  CHECK(fabrics->sm_statuses().at("east").error.find("tls.crt: expired at 20") !=
        std::string::npos);
  const auto found = fault(east_vf());
  REQUIRE(found);
  CHECK(found->kind == Kind::certificate);
  CHECK(found->text.find("tls.crt: expired at 20") != std::string::npos);
  CHECK_FALSE(certificate().usable);
  CHECK(*certificate().expires < std::chrono::system_clock::now());
  attach("c1", vf[0]);
  const auto refused = fabrics->bind({"c1", "net1", ""}, nodeapi::Node::Wait::verified,
                                     Deadline::in(Duration(1'000)));
  const std::string why = refused ? refused->text : refused.error().text();
  CHECK(why.find("expired at 20") != std::string::npos);
  tls.renew();
  CHECK(becomes({}));
  CHECK(certificate().state);
  CHECK(in_time([&] { return fabrics->sm_statuses().at("east").reached; }));
  CHECK(bind("c1")->verified());
}

TEST_CASE_FIXTURE(CertificateFixture, "a certificate that is missing is waited for, too") {
  std::filesystem::remove(tls.files.files.certificate);
  REQUIRE(becomes(Kind::certificate));
  CHECK(fault(east_vf())->text.find("tls.crt: No such file") != std::string::npos);
  CHECK_FALSE(certificate().expires);
  tls.renew();
  CHECK(becomes({}));
  CHECK(in_time([&] { return fabrics->sm_statuses().at("east").reached; }));
}

TEST_CASE_FIXTURE(CertificateFixture,
                  "one that has expired in use is reported, and not a service without an answer") {
  tls.files.put(tls.ca.issue({.common_name = "n1", .from = -60, .until = 5}));
  CHECK(in_time([&] { return fabrics->sm_statuses().at("east").reached; }));
  REQUIRE(in_time([&] { return !certificate().usable; }));
  tls.tcp.reset();
  CHECK(in_time([&] {
    return fabrics->sm_statuses().at("east").error.find("expired at 20") != std::string::npos;
  }));
}

}  // namespace
}  // namespace ibpod::agent::sm_client
