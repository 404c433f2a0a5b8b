#include "lib/mad/port_info.h"

#include "lib/mad/test_answers.h"

#include <doctest/doctest.h>

namespace ibpod::mad {
namespace {

TEST_CASE("a port of an adapter as another program reads it") {
  const auto info = parse_port_info(recorded_answer("port-info-adapter").data);
  REQUIRE(info);
  CHECK(*info == PortInfo{.state = ib::PortState::active,
                          .lid = 4,
                          .sm_lid = 1,
                          .subnet_prefix = 0xfe80000000000000,
                          .capabilities = 0x50c048,
                          .capabilities2 = 0x30,
                          .local_port = 1,
                          .m_key_lease = 4089});
}

TEST_CASE("a port of a switch as another program reads it") {
  const SmpResponse answer = recorded_answer("port-info-switch");
  CHECK(answer.modifier == 8);
  CHECK(*parse_port_info(answer.data) == PortInfo{.state = ib::PortState::active, .local_port = 4});
}

TEST_CASE("what the simulator has not: protection, enforcement") {
  const PortInfo info{.state = ib::PortState::init,
                      .lid = 0xbfff,
                      .lid_mask = 7,
                      .sm_lid = 2,
                      .capabilities = kCapabilitySm | kCapabilityMask2,
                      .capabilities2 = kCapability2Virtual,
                      .m_key = MKey{0xfedcba9876543210},
                      .m_key_lease = 15,
                      .m_key_protection = 3,
                      .enforces_inbound = true};
  const Data data = encode(info);
  CHECK(std::to_integer<int>(data.at(34)) == 0xc7);
  CHECK(std::to_integer<int>(data.at(43)) == 0x08);
  CHECK(std::to_integer<int>(data.at(61)) == 0x04);
  CHECK(*parse_port_info(data) == info);
}

TEST_CASE("a state that there is not is unknown") {
  Data data = encode(PortInfo{});
  data.at(32) = std::byte{0x0f};
  CHECK(parse_port_info(data)->state == ib::PortState::unknown);
}

}  // namespace
}  // namespace ibpod::mad
