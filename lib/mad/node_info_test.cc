#include "lib/mad/node_info.h"

#include "lib/mad/test_answers.h"

#include <doctest/doctest.h>

namespace ibpod::mad {
namespace {

TEST_CASE("an adapter as another program reads it") {
  const auto info = parse_node_info(recorded_answer("node-info-adapter").data);
  REQUIRE(info);
  CHECK(*info == NodeInfo{.type = NodeType::channel_adapter,
                          .ports = 1,
                          .node_guid = ib::Guid(0x100002),
                          .port_guid = ib::Guid(0x100003),
                          .partition_cap = 64,
                          .local_port = 1});
}

TEST_CASE("a switch as another program reads it") {
  const SmpResponse answer = recorded_answer("node-info-switch");
  CHECK(answer.directed);
  CHECK(answer.transaction == 0x1234);
  const auto info = parse_node_info(answer.data);
  REQUIRE(info);
  CHECK(info->type == NodeType::switch_node);
  CHECK(info->ports == 8);
  CHECK(info->node_guid == ib::Guid(0x200001));
  CHECK(info->partition_cap == 8);
  CHECK(info->local_port == 4);
  const auto more = parse_switch_info(recorded_answer("switch-info").data);
  REQUIRE(more);
  CHECK(*more == SwitchInfo{.partition_cap = 64});
}

TEST_CASE("all that is read is said again") {
  const NodeInfo node{.type = NodeType::router,
                      .ports = 2,
                      .node_guid = ib::Guid(2),
                      .port_guid = ib::Guid(3),
                      .partition_cap = 128,
                      .local_port = 255};
  CHECK(*parse_node_info(encode(node)) == node);
  const SwitchInfo info{.partition_cap = 32};
  CHECK(*parse_switch_info(encode(info)) == info);
}

TEST_CASE("there are three types of node") {
  for (const int type : {0, 4, 255}) {
    Data data = encode(NodeInfo{});
    data.at(2) = static_cast<std::byte>(type);
    CHECK(!parse_node_info(data));
  }
}

TEST_CASE("a description is text that can be logged, whatever it is") {
  CHECK(*parse_node_description(recorded_answer("node-description").data) == "h1");
  Data data;
  data.fill(std::byte{'\n'});
  CHECK(*parse_node_description(data) == std::string(64, '?'));
  data.front() = std::byte{0xff};
  data.at(1) = std::byte{0};
  CHECK(*parse_node_description(data) == "?");
}

}  // namespace
}  // namespace ibpod::mad
