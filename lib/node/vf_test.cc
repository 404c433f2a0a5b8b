#include "lib/node/vf.h"

#include "lib/node/test_vf.h"

#include <doctest/doctest.h>

namespace ibpod::node {
namespace {

const KernelVariant kIsolated = kernel_variants().front();
const KernelVariant kShared = kernel_variants()[2];

Original observed(fake::FakeKernel& k) { return observe(k, *k.function(kVf).value(), {}).value(); }
Error refused(fake::FakeKernel& k) { return observe(k, *k.function(kVf).value(), {}).error(); }

TEST_CASE("a VF is observed as it stands") {
  fake::FakeKernel k = fake::one_vf_node();
  k.interface("", "ib1").umcast = true;
  const Original found = observed(k);
  CHECK(found.driver == "mlx5_core");
  CHECK(found.rdma_devices == std::vector<std::string>{"mlx5_1"});
  const Guids own{fake::vf_guid(0, 0), fake::vf_guid(0, 0)};
  CHECK(found.guids == own);
  CHECK(found.pf_configured == own);
  CHECK(found.policy == LinkPolicy::automatic);
  REQUIRE(found.netdev);
  CHECK(found.netdev->name == "ib1");
  CHECK(found.netdev->altnames == std::vector<std::string>{"ibp59s0v0"});
  CHECK(found.netdev->umcast);
  CHECK(nl::guid_of(found.netdev->address) == fake::vf_guid(0, 0));
  CHECK(found.other_netdevs.empty());
}

TEST_CASE("a VF is observed even if the kernel cannot report the settings of many VFs") {
  fake::FakeKernel k = fake::one_vf_node();
  k.tells_vf_settings = false;
  CHECK_FALSE(observed(k).pf_configured);
  CHECK_FALSE(observed(k).policy);
}

TEST_CASE("what cannot be given now is refused with the remedy") {
  fake::FakeKernel k = fake::one_vf_node();
  k.state.rdma_mode = nl::RdmaNetnsMode::exclusive;
  const Namespace pod = k.make_namespace(kPod);
  SUBCASE("no driver") {
    k.unbind(kVf);
    CHECK(refused(k).text() ==
          "0000:3b:00.1 is not bound to a driver: bind it to its own driver (mlx5_core) or to "
          "vfio-pci");
  }
  SUBCASE("its RDMA device is elsewhere") {
    k.move_rdma(kHost, "mlx5_1", pod).value();
    CHECK(refused(k).text() ==
          "0000:3b:00.1 has no RDMA device in the host's namespace: another namespace has it, or "
          "its driver did not create one");
  }
  SUBCASE("its interface is elsewhere") {
    k.move_netdev(kHost, own_netdev(k, kHost, kVf).value()->index, pod, "net1").value();
    CHECK(refused(k).text() ==
          "0000:3b:00.1 has no IPoIB interface in the host's namespace: another namespace has it, "
          "or ib_ipoib is not loaded");
  }
  CHECK(refused(k).code() == Code::unavailable);
}

TEST_CASE("in every world the pod gets what was asked, and nothing else changes") {
  for (const KernelVariant& variant : kernel_variants()) {
    for (const SpecCase& spec_case : kSpecCases) {
      AttachmentFixture a(variant, spec_case);
      CAPTURE(text(variant));
      CAPTURE(spec_case.name);
      REQUIRE(a.give_now());
      const std::optional<Netdev> netdev = own_netdev(a.k, a.record.netns, kVf).value();
      REQUIRE(netdev);
      CHECK(netdev->name == "net1");
      CHECK(netdev->altnames.empty());
      CHECK(netdev->up);
      CHECK(netdev->mtu == spec_case.mtu.value_or(2044));
      CHECK_FALSE(own_netdev(a.k, kHost, kVf).value());
      const Guids wanted = spec_case.guids.value_or(*a.record.original.guids);
      CHECK(own_guids(a.k, variant.isolation ? a.record.netns : kHost, kVf).value() == wanted);
      CHECK(nl::guid_of(netdev->address) == wanted.port);
      CHECK(a.k.function_state(kVf).policy == spec_case.policy.value_or(*a.record.original.policy));
      for (const std::string& line : fake::lines(a.before)) {
        const bool of_neighbour = line.find(fake::vf_address(0, 1).text()) != std::string::npos;
        const bool of_vf = line.find(kVf.text()) != std::string::npos;
        if (of_neighbour && !of_vf) CHECK(a.changes().find(line) == std::string::npos);
      }
    }
  }
}

TEST_CASE("a VF that already shows the requested GUID is not bound again") {
  AttachmentFixture a(kShared, kSpecCases[2]);
  REQUIRE(a.give_now());
  for (const std::string& order : a.k.trail()) {
    CHECK(order != "set_driver");
    CHECK(order != "set_vf_guids");
  }
}

TEST_CASE("a VF that is bound again has its RDMA device's old name, unless another device has it") {
  AttachmentFixture kept(kShared, kSpecCases[1]);
  REQUIRE(kept.give_now());
  CHECK(kept.k.rdma_devices(kHost, kVf).value().front().name ==
        kept.record.original.rdma_devices.front());
  AttachmentFixture lost(kShared, kSpecCases[1]);
  lost.record.original.rdma_devices.front() =
      lost.k.rdma_devices(kHost, fake::vf_address(0, 1)).value().front().name;
  REQUIRE(lost.give_now());
  CHECK(lost.k.rdma_devices(kHost, kVf).value().front().name == "mlx5_4");
}

TEST_CASE("a VF that does not show the GUID behind the rebind is not given away") {
  AttachmentFixture a(kShared, kSpecCases[1]);
  // The driver came up before the PF's word did.
  a.k.at_next_wait([](fake::FakeKernel&) {});
  a.k.fail_at(1);
  const Status given = a.give_now();
  REQUIRE_FALSE(given);
  CHECK(own_netdev(a.k, kHost, kVf).value());
}

TEST_CASE("udev may rename the interface between the rebind and its use") {
  for (const KernelVariant& variant : kernel_variants()) {
    AttachmentFixture a(variant, kSpecCases[1]);
    CAPTURE(text(variant));
    a.k.at_next_wait([](fake::FakeKernel& k) {
      const auto netdev = own_netdev(k, kHost, kVf).value();
      if (netdev) k.rename_netdev("", netdev->name, "ibs9");
    });
    REQUIRE(a.give_now());
    CHECK(own_netdev(a.k, a.record.netns, kVf).value()->name == "net1");
  }
}

TEST_CASE("a name that is taken in the pod is refused, and the VF can come back") {
  for (const KernelVariant& variant : kernel_variants()) {
    AttachmentFixture a(variant, kSpecCases[1]);
    CAPTURE(text(variant));
    a.k.add_netdev(kPod, "net1");
    a.before = a.k.state;
    CHECK(a.give_now().error().code() == Code::exists);
    REQUIRE(a.restore_now());
    CHECK(a.changes() == "");
  }
}

TEST_CASE("several RDMA devices of a function go together") {
  AttachmentFixture a(kIsolated, kSpecCases[0], 3);
  CHECK(a.record.original.other_netdevs.size() == 2);
  REQUIRE(a.give_now());
  CHECK(a.k.rdma_devices(a.record.netns, kVf).value().size() == 3);
  CHECK(a.k.rdma_devices(kHost, kVf).value().empty());
}

TEST_CASE("children of an administrator's are not ended, but named") {
  AttachmentFixture a(kIsolated, kSpecCases[0]);
  a.k.add_child("", a.record.original.netdev->name, "ib1.8001", ib::PKey(0x8001));
  a.observe_now();
  CHECK(check_children(a.record).error().code() == Code::busy);
  CHECK(check_children(a.record).error().text() ==
        "0000:3b:00.1 has IPoIB child interfaces (ib1.8001) that the attach would delete; remove "
        "them first");
  a.record.spec.isolation = false;
  CHECK(check_children(a.record));
  a.record.spec.guids = kSpecGuids;
  CHECK_FALSE(check_children(a.record));
}

TEST_CASE("a VF under vfio-pci takes the GUID at the PF, which is read back") {
  AttachmentFixture a(kShared, kSpecCases[0]);
  a.k.unbind(kVf);
  a.k.bind(kVf, "vfio-pci").value();
  a.observe_now();
  CHECK_FALSE(a.record.original.netdev);
  a.record.spec.guids = kSpecGuids;
  a.record.spec.policy = LinkPolicy::enable;
  REQUIRE(a.give_now());
  CHECK(a.k.function_state(kVf).port_guid.value == kSpecGuids.port);
  CHECK(a.k.function_state(kVf).policy == LinkPolicy::enable);
  CHECK(a.k.function_state(kVf).driver == "vfio-pci");
  REQUIRE(a.restore_now());
  CHECK(a.changes() == "");
}

TEST_CASE("a VF that has vanished cannot be given") {
  AttachmentFixture a(kShared, kSpecCases[0]);
  a.k.vanish(kVf);
  CHECK(a.give_now().error().code() == Code::not_found);
}

}  // namespace
}  // namespace ibpod::node
