#include "lib/mad/port_info.h"

#include "lib/mad/test_answers.h"

#include <doctest/doctest.h>

namespace ibpod::mad {
namespace {

TEST_CASE("a port of an adapter as another program reads it") {
  const auto info = parse_port_info(recorded_answer("port-info-adapter").data);
  REQUIRE(info);
  CHECK(*info == PortInfo{.state = ib::PortState::active,
                          .physical_state = 5,
                          .lid = 4,
                          .sm_lid = 1,
                          .subnet_prefix = 0xfe80000000000000,
                          .capabilities = 0x50c048,
                          .capabilities2 = 0x30,
                          .local_port = 1,
                          .guid_places = 32,
                          .m_key_lease = 4089,
                          .width = 2,
                          .speed = 1,
                          .neighbour_mtu = 4});
}

TEST_CASE("a port of a switch as another program reads it") {
  const Answer answer = recorded_answer("port-info-switch");
  CHECK(answer.modifier == 8);
  CHECK(*parse_port_info(answer.data) == PortInfo{.state = ib::PortState::active,
                                                  .physical_state = 5,
                                                  .local_port = 4,
                                                  .width = 2,
                                                  .speed = 1,
                                                  .neighbour_mtu = 4});
}

TEST_CASE("what the simulator has not: protection, enforcement, extended speeds") {
  const PortInfo info{.state = ib::PortState::init,
                      .physical_state = 5,
                      .lid = 0xbfff,
                      .lid_mask = 7,
                      .sm_lid = 2,
                      .capabilities = kCapabilitySm | kCapabilityMask2,
                      .capabilities2 = kCapability2Virtual,
                      .m_key = MKey{0xfedcba9876543210},
                      .m_key_lease = 15,
                      .m_key_protection = 3,
                      .m_key_violations = 1,
                      .pkey_violations = 0xffff,
                      .enforces_inbound = true,
                      .width = 16,
                      .speed = 4,
                      .extended_speed = 8,
                      .neighbour_mtu = 5};
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

TEST_CASE("the GUIDs of a port") {
  const auto guids = parse_guid_block(recorded_answer("guid-info").data);
  CHECK(guids->front() == ib::Guid(0x100003));
  CHECK(guids->back() == ib::Guid(0));
}

}  // namespace
}  // namespace ibpod::mad
