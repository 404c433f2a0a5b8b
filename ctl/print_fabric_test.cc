#include "ctl/print_bindings.h"
#include "ctl/print_partitions.h"
#include "ctl/print_plan.h"
#include "ctl/words.h"

#include <limits>

#include <doctest/doctest.h>

namespace ibpod::ctl {
namespace {

using fabric::Membership;

constexpr ib::Guid kPort{0x0002c90300a1b2c3};

fabric::PartitionStatus blue() {
  fabric::PartitionStatus blue;
  blue.spec.name = "blue";
  blue.spec.pkey = ib::PKey(0x0101);
  blue.spec.index0 = true;
  blue.spec.ipoib = false;
  blue.spec.mtu = fabric::Mtu::mtu_4096;
  blue.spec.allowed = {"a", "b"};
  blue.spec.nodes = {"gpu-*", "n1"};
  blue.spec.members = {{kPort, Membership::full, "nfs-1"}};
  blue.state = fabric::PartitionState::error;
  blue.condition = {fabric::Reason::capacity, "a table is full"};
  blue.bindings = 7;
  return blue;
}

fabric::Binding binding() {
  fabric::Binding binding;
  binding.attachment = {"n1", "c1", "net1"};
  binding.guid = kPort;
  binding.pod = {"team-a", "web-0", "u-1"};
  binding.desired = {{"blue", Membership::full}, {"red", Membership::limited}};
  binding.applied = {{"blue", Membership::full}};
  binding.state = fabric::BindingState::verified;
  binding.proof = fabric::Proof::node;
  binding.enforcement = fabric::Enforcement::leaf;
  binding.asked = fabric::WallTime(std::chrono::milliseconds(1'700'000'000'500));
  return binding;
}

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("print: a partition is a line, its members are a table of their own") {
  CHECK(as_table(std::vector{blue()}) ==
        "NAME  P_KEY   MEMBERSHIP  STATE  BINDINGS  MEMBERS  ALLOWED  "
        "OPTIONS                                  BY       REASON\n"
        "blue  0x0101  limited     error  7         1        a,b      "
        "index0,no ipoib,mtu=4096,nodes=gpu-*,n1  request  "
        "capacity: a table is full\n");
  CHECK(has(as_text(blue()),
            "\nMEMBER                   MEMBERSHIP  COMMENT\n"
            "00:02:c9:03:00:a1:b2:c3  full        nfs-1\n"));
}

TEST_CASE(
    "print: a binding is a line, and all that is known of it where it is "
    "asked for") {
  CHECK(as_table(std::vector{binding()}) ==
        "POD           NODE  INTERFACE  GUID                     PARTITIONS    "
        "         STATE     "
        "SEEN BY  ENFORCED BY  REASON  CONTAINER\n"
        "team-a/web-0  n1    net1       00:02:c9:03:00:a1:b2:c3  "
        "blue:full,red:limited  verified  "
        "node     leaf         -       c1\n");
  const std::string text = as_text(binding());
  CHECK(has(text, "held now    blue:full\n"));
  CHECK(has(text, "asked       2023-11-14T22:13:20Z\n"));
  CHECK(has(text, "changed     -\n"));
}

TEST_CASE("print: that there is no pod and no GUID is a dash") {
  fabric::Binding none;
  none.attachment = {"n1", "c1", "net1"};
  CHECK(has(as_table(std::vector{none}), "\n-    n1    net1       -     -  "));
  fabricapi::Explanation explanation;
  explanation.subjects.resize(1);
  explanation.subjects[0].binding = none;
  CHECK(has(as_text(explanation), "\nGUID                -\n"));
  CHECK(has(as_text(explanation), "\npod                 -\n"));
}

TEST_CASE("print: when a node was heard of is not known from before the service started") {
  v1::ListNodesResponse nodes;
  v1::FabricNode& node = *nodes.add_nodes();
  node.set_name("n1");
  node.set_guids(4);
  CHECK(as_table(nodes) ==
        "NODE  LAST CONTACT                BINDINGS  GUIDS  REASON\n"
        "n1    not since ibpod-sm started  0         4      -\n");
  node.set_last_sync(1'700'000'000'000);
  CHECK(has(as_table(nodes), "2023-11-14T22:13:20Z"));
}

TEST_CASE(
    "print: a plan begins with how much, then what to know, then port by "
    "port") {
  v1::PlanResponse plan;
  v1::PlanResponse::Port& first = *plan.add_ports();
  first.set_guid(kPort.value());
  first.set_description("h1 mlx5_0");
  first.set_before("0:0x7fff");
  first.set_after("0:0x7fff 1:0x8001");
  v1::PlanResponse::Port& second = *plan.add_ports();
  second.set_guid(0x0002c90300a1b2c4);
  second.set_after("0x7fff");
  plan.set_changed(5);
  plan.set_unseen(1);
  plan.set_packets(9);
  plan.set_seconds(1.54);
  plan.add_notes("the partition red vanishes");
  CHECK(as_text(plan) ==
        "5 ports would change, with 9 packets or more, in about 1.5 s\n"
        "the P_Key table of 1 port is not known\n"
        "note: the partition red vanishes\n"
        "\n"
        "PORT                     NODE       P_KEY TABLE NOW  THEN\n"
        "00:02:c9:03:00:a1:b2:c3  h1 mlx5_0  0:0x7fff         0:0x7fff 1:0x8001\n"
        "00:02:c9:03:00:a1:b2:c4  -          not known        0x7fff\n"
        "and 3 ports more\n");
  CHECK(as_text(v1::PlanResponse{}) == "nothing would change\n");
  CHECK(has(as_json(plan).text(), R"("milliseconds":1540)"));
  for (const double odd : {std::numeric_limits<double>::quiet_NaN(), -1.0}) {
    plan.set_seconds(odd);
    CHECK(has(as_json(plan).text(), R"("milliseconds":null)"));
  }
  CHECK(has(as_json(plan).text(), R"("before":null,"after":"0x7fff")"));
  v1::PlanResponse blind;
  blind.set_unseen(2);
  CHECK(has(as_text(blind), "nothing would change, as far as P_Key tables are known\n"));
  plan.set_seconds(std::numeric_limits<double>::infinity());
  CHECK(has(as_json(plan).text(), R"("milliseconds":1000000000000)"));
}

TEST_CASE(
    "print: an explanation is a table of facts, what is wrong, and who "
    "is reached") {
  fabricapi::Explanation explanation;
  fabricapi::Explanation::Subject subject;
  subject.name = "team-a/web-0";
  subject.guid = kPort;
  subject.binding = binding();
  subject.description = "h1\x1b[2J";
  subject.table = "0:0x7fff 1:0x8001";
  subject.wanted = "0x7fff 0x8001";
  explanation.subjects = {subject};
  const std::string fine = as_text(explanation);
  CHECK(has(fine, "PORT                team-a/web-0\n"));
  CHECK(has(fine, "node in the subnet  h1?[2J\n"));
  CHECK(has(fine, "binding             verified, seen by the node, enforcement: leaf\n"));
  CHECK(has(fine, "switch port's       not known\n"));
  CHECK(has(fine, "  ok: as configured\n"));
  explanation.subjects[0].findings = {"its P_Key table lacks 0x8001"};
  explanation.reach = {"blue (0x0101): yes"};
  const std::string wrong = as_text(explanation);
  CHECK(has(wrong, "  * its P_Key table lacks 0x8001\n"));
  CHECK(has(wrong, "\n\nblue (0x0101): yes\n"));
  CHECK_FALSE(has(wrong, "ok: as configured"));
}

TEST_CASE("print: JSON of the fabric has every field under a name of its own") {
  CHECK(
      as_json(blue()).text() ==
      R"({"name":"blue","pkey":"0x0101","membership":"limited","index0":true,"ipoib":false,)"
      R"("mtu":4096,"allowed":["a","b"],"nodes":["gpu-*","n1"],"proof":"node","members":[{"guid":)"
      R"("00:02:c9:03:00:a1:b2:c3","membership":"full","comment":"nfs-1"}],"declared":false,)"
      R"("state":"error","reason":"capacity","text":"a table is full","bindings":7})");
  CHECK(
      as_json(binding()).text() ==
      R"({"node":"n1","containerID":"c1","ifname":"net1","guid":"00:02:c9:03:00:a1:b2:c3",)"
      R"("kind":"vf","pf":"","device":"","pod":{"namespace":"team-a","name":"web-0","uid":"u-1"},)"
      R"("partitions":[{"partition":"blue","membership":"full"},{"partition":"red",)"
      R"("membership":"limited"}],"held":[{"partition":"blue","membership":"full"}],)"
      R"("generation":0,"state":"verified","reason":"none","text":"","proof":"node",)"
      R"("enforcement":"leaf","asked":"2023-11-14T22:13:20Z","changed":null})");
  fabricapi::Explanation explanation;
  explanation.subjects.resize(1);
  CHECK(has(as_json(explanation).text(), R"("table":null,"leafTable":null,"seen":null)"));
  v1::FabricNode node;
  node.set_name("n1");
  CHECK(as_json(node).text() ==
        R"({"name":"n1","lastSync":null,"bindings":0,"guids":0,"forgetting":false})");
}

}  // namespace
}  // namespace ibpod::ctl
