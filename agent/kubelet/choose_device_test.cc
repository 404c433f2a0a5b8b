#include "agent/kubelet/choose_device.h"

#include <doctest/doctest.h>

namespace ibpod::agent::kubelet {
namespace {

const std::string kOne = "0000:3b:00.1", kTwo = "0000:3b:00.2";

ib::PciAddress address(const std::string& text) { return ib::PciAddress::parse(text).value(); }

const Holder kAsker{"c1:net1", "ns/a"};
const Holder kEarlier{"c0:net1", "ns/a"};
const Holder kOther{"c9:net1", "ns/b"};

TEST_CASE("device of: the first by PCI address without a holder, in any order of the ids") {
  CHECK(choose_device({kTwo, kOne}, {}, kAsker).value() == kOne);
  CHECK(choose_device({kTwo, kOne}, {{address(kOne), {kEarlier}}}, kAsker).value() == kTwo);
  CHECK(choose_device({kTwo, kOne}, {{address(kOne), {kOther}}}, kAsker).value() == kTwo);
  CHECK(choose_device({kOne}, {{address(kOne), {}}}, kAsker).value() == kOne);
}

TEST_CASE("device of: who holds one already gets that one again") {
  CHECK(choose_device({kOne, kTwo}, {{address(kTwo), {kAsker}}}, kAsker).value() == kTwo);
  CHECK(choose_device({kOne}, {{address(kOne), {kEarlier, kAsker}}}, kAsker).value() == kOne);
}

TEST_CASE("device of: none given, none answered") {
  CHECK(choose_device({}, {{address(kOne), {kEarlier}}}, kAsker).value().empty());
}

TEST_CASE("device of: what another pod still holds is the asker's, whose ADD waits for it") {
  CHECK(choose_device({kOne}, {{address(kOne), {kOther}}}, kAsker).value() == kOne);
  CHECK(choose_device({kOne}, {{address(kOne), {{"c9:net1", ""}}}}, kAsker).value() == kOne);
  const Holders both{{address(kOne), {kEarlier}}, {address(kTwo), {kOther}}};
  CHECK(choose_device({kOne, kTwo}, both, kAsker).value() == kTwo);
}

TEST_CASE("device of: what a pod of that name still holds is not ready yet, and it is named") {
  const Holders holders{{address(kOne), {kOther, kEarlier}}};
  const auto refused = choose_device({kOne, kOne}, holders, kAsker);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::unavailable);
  CHECK(refused.error().text() ==
        "the pod's devices are still held by other attachments: 0000:3b:00.1 by c9:net1");
}

TEST_CASE("device of: a ticket, or anything else that is not a PCI address, is no device") {
  const auto refused = choose_device({"0000:3b:00.0-7"}, {}, kAsker);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::internal);
}

}  // namespace
}  // namespace ibpod::agent::kubelet
