// Values of the fabric's API for tests, with every field set.
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/fabricapi/calls.h"

#include <vector>

namespace ibpod::fabricapi {

inline ib::Guid test_guid(uint64_t number = 1) { return ib::Guid(0x0200000000000000 + number); }

inline fabric::Attachment test_attachment() { return {"n7.example", "c1d2", "net1"}; }

inline fabric::Binding test_binding() {
  fabric::Binding binding;
  binding.attachment = test_attachment();
  binding.guid = test_guid();
  binding.guid_requested = true;
  binding.kind = fabric::Kind::child;
  binding.pf = "ib0";
  binding.pf_guid = test_guid(0xff);
  binding.device = "0000:3b:00.2";
  binding.pod = {"lab", "trainer-0", "6f1c-22"};
  binding.desired = {{"blue", fabric::Membership::full}, {"red", fabric::Membership::both}};
  binding.keys = {ib::PKey(0x8101), ib::PKey(0x8102)};
  binding.applied = {{"blue", fabric::Membership::full}};
  binding.generation = 7;
  binding.state = fabric::BindingState::written;
  binding.condition = {fabric::Reason::port_down, "the port is down: look at its cable"};
  binding.proof = fabric::Proof::node;
  binding.enforcement = fabric::Enforcement::leaf;
  binding.asked = fabric::WallTime(std::chrono::milliseconds(1'700'000'000'123));
  binding.changed = fabric::WallTime(std::chrono::milliseconds(1'700'000'000'456));
  return binding;
}

inline fabric::Partition test_partition() {
  fabric::Partition partition;
  partition.name = "blue";
  partition.pkey = ib::PKey(0x101);
  partition.membership = fabric::Membership::full;
  partition.index0 = true;
  partition.ipoib = true;
  partition.mtu = fabric::Mtu::mtu_4096;
  partition.rate = fabric::Rate(7);
  partition.sl = 3;
  partition.allowed = {"lab", "*"};
  partition.nodes = {"gpu-*", "n1"};
  partition.proof = fabric::Proof::port;
  partition.members = {{test_guid(9), fabric::Membership::limited, "nfs-1, Gebäude 4"}};
  return partition;
}

inline fabric::PartitionStatus test_status() {
  return {test_partition(),
          true,
          fabric::PartitionState::ready,
          {fabric::Reason::waiting, "for a sweep"},
          12};
}

inline BindRequest test_bind() {
  return {test_attachment(),
          test_guid(),
          true,
          fabric::Kind::vf,
          "ib0",
          test_guid(0xff),
          "0000:3b:00.2",
          {"lab", "trainer-0", ""},
          {{"blue", fabric::Membership::full}, {"red", std::nullopt}}};
}

inline BindingFilter test_filter() {
  return {"n7.example", "blue", "lab", "trainer-0", test_guid(), fabric::BindingState::unknown};
}

inline SyncRequest test_sync() {
  return {"n7.example",
          {{"c1", "net1"}, {"c2", "net2"}},
          {test_guid(6), ib::Guid(7)},
          {test_guid(8)},
          "5f2c7f04-9f1e"};
}
inline SyncAnswer test_sync_answer() {
  return {{test_binding()}, {{"c2", "net2"}}, {test_binding()}, Duration(90'000), {ib::Guid(7)}};
}

inline ObserveRequest test_observe() {
  return {"n7.example", "stamp-4", {{test_guid(), {ib::PKey(0xffff), ib::PKey(0), ib::PKey(1)}}}};
}
inline v1::ObserveResponse test_observe_answer() {
  v1::ObserveResponse answer;
  answer.set_stamp("stamp-5");
  answer.add_wanted(test_guid(3).value());
  return answer;
}

inline AllocateRequest test_allocate() { return {"n7.example", "0000:3b:00.0", {0, 1, 7}}; }
inline std::vector<AllocatedGuid> test_allocated() {
  return {{0, test_guid(4)}, {7, test_guid(5)}};
}

inline v1::ListNodesResponse test_nodes() {
  v1::ListNodesResponse answer;
  v1::FabricNode& node = *answer.add_nodes();
  node.set_name("n7.example");
  node.set_last_sync(5);
  node.set_bindings(3);
  node.set_guids(4);
  v1::FabricNode& silent = *answer.add_nodes();
  silent.set_name("n8");
  silent.set_forgetting(true);
  return answer;
}

inline PlanRequest test_plan() { return {test_partition(), "", true}; }
inline v1::PlanResponse test_plan_answer() {
  v1::PlanResponse plan;
  v1::PlanResponse::Port& port = *plan.add_ports();
  port.set_guid(test_guid().value());
  port.set_description("node-7 mlx5_0");
  port.set_before("0:0x7fff");
  port.set_after("0:0x7fff 1:0x8101");
  plan.set_changed(2000);
  plan.set_unseen(5);
  plan.set_packets(4000);
  plan.set_seconds(1.5);
  plan.add_notes("OpenSM sweeps once");
  return plan;
}

inline ExplainRequest test_explain() { return {{"lab/trainer-0", test_guid().text()}}; }
inline Explanation test_explanation() {
  Explanation::Subject bound{"lab/trainer-0", test_guid(), test_binding(),
                             "node-7",        "0:0x7fff",  "0:0x7fff",
                             "0x7fff",        {},          {}};
  bound.seen = fabric::WallTime(std::chrono::milliseconds(77));
  bound.findings = {"the key is missing"};
  Explanation::Subject free{};
  free.name = "02:00:00:00:00:00:00:02";
  free.guid = test_guid(2);
  return {{bound, free}, {"blue: both are in it"}};
}

inline v1::FabricHealthResponse test_health() {
  v1::FabricHealthResponse health;
  v1::FabricHealthResponse::Finding& finding = *health.add_findings();
  finding.set_subject("opensm");
  finding.set_text("runs on another file");
  finding.set_remedy("restart it");
  health.set_engine("opensm: serving");
  return health;
}

}  // namespace ibpod::fabricapi
