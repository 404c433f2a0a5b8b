// What only the model can show: both kernel worlds, several RDMA devices on a function, faults.
#include "tests/support/fake_kernel.h"

#include <doctest/doctest.h>

namespace ibpod::fake {
namespace {

const ib::PciAddress kVf = vf_address(0, 0);
const Path kPod = "/run/netns/pod";

TEST_CASE("a node to start from is in order") {
  FakeKernel k = node_with(2, 9);
  CHECK(k.state.rdma.size() == 20);
  CHECK(k.state.rdma.contains("mlx5_19"));
  CHECK(vf_address(1, 8).text() == "0000:3c:01.1");
  const auto port = k.port(node::kHost, "mlx5_19").value();
  CHECK(port.state == ib::PortState::active);
  CHECK(port.guid == vf_guid(1, 8));
  CHECK(k.find_netdev(node::kHost, "ib19").value()->index != nl::IfIndex{});
  CHECK_FALSE(k.settle());
}

}  // namespace
}  // namespace ibpod::fake
