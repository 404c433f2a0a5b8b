#include "agent/device_of.h"

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

const std::string kOne = "0000:3b:00.1", kTwo = "0000:3b:00.2";

ib::PciAddress address(const std::string& text) { return ib::PciAddress::parse(text).value(); }

TEST_CASE(
    "device of: the first by PCI address that nobody holds, in whatever order they are named") {
  CHECK(choose_device({kTwo, kOne}, {}, "c1:net1").value() == kOne);
  CHECK(choose_device({kTwo, kOne}, {{address(kOne), {"c0:net1"}}}, "c1:net1").value() == kTwo);
  CHECK(choose_device({kOne}, {{address(kOne), {}}}, "c1:net1").value() == kOne);
}

TEST_CASE("device of: who holds one already gets that one again") {
  CHECK(choose_device({kOne, kTwo}, {{address(kTwo), {"c1:net1"}}}, "c1:net1").value() == kTwo);
  CHECK(choose_device({kOne}, {{address(kOne), {"c0:net1", "c1:net1"}}}, "c1:net1").value() ==
        kOne);
}

TEST_CASE("device of: none given, none answered") {
  CHECK(choose_device({}, {{address(kOne), {"c0:net1"}}}, "c1:net1").value().empty());
}

TEST_CASE("device of: what others still hold is not ready yet, and the answer names them") {
  const auto refused = choose_device({kOne, kOne}, {{address(kOne), {"c0:net1"}}}, "c1:net1");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::unavailable);
  CHECK(refused.error().text() ==
        "the pod's devices are still held by other attachments: 0000:3b:00.1 by c0:net1");
}

TEST_CASE("device of: a ticket, or anything else that is no PCI address, is no device") {
  const auto refused = choose_device({"0000:3b:00.0-7"}, {}, "c1:net1");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::internal);
}

}  // namespace
}  // namespace ibpod::agent
