// What a good certificate does not permit is refused, told so, and changes nothing.
#include "tests/fabric/sm/secure_fixture.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using fabricapi::Client;

fabricapi::ObserveRequest observation(unsigned host, const std::string& stamp, ib::Guid port,
                                      ib::PKey key) {
  return {node_of(host), stamp, {{port, {ib::PKey(0x7fff), key, ib::PKey()}}}};
}

TEST_CASE("a node gets no port of another node's") {
  SecureBed bed(SecureBed::with_pool());
  bed.partition("blue");
  Client n1 = bed.node(1);
  REQUIRE(bed.node(2).bind(SmBed::request(2, "blue"), SmBed::patience()));
  const ib::Guid given = bed.unseen_guid(3);
  const SecureBed::Whole before = bed.whole();
  for (const ib::Guid guid : {guid_of(2), guid_of(4), given, guid_of(kSmHost)}) {
    fabricapi::BindRequest request = SmBed::request(1, "blue");
    request.guid = guid;
    check_refused(n1.bind(request, SmBed::patience()), Code::denied,
                  {guid.text(), "VF of node n1", "GUID of the pool"});
    request.kind = fabric::Kind::child;
    check_refused(n1.bind(request, SmBed::patience()), Code::denied,
                  {guid.text(), "PF of node n1"});
  }
  CHECK(bed.whole() == before);
}

TEST_CASE("a node does nothing, and sees nothing, in another node's name") {
  SecureBed bed(SecureBed::with_pool());
  bed.partition("blue");
  const fabricapi::BindRequest request = SmBed::request(2, "blue");
  REQUIRE(bed.node(2).bind(request, SmBed::patience()));
  const SecureBed::Whole before = bed.whole();
  Client n1 = bed.node(1);
  const auto denied = [](const auto& result) {
    check_refused(result, Code::denied, {"CN=system:node:n1", "node n2", "only for n1"});
  };
  denied(n1.bind(request, SmBed::patience()));
  denied(n1.unbind(request.attachment, SmBed::patience()));
  denied(n1.sync({"n2", {}}, SmBed::patience()));
  denied(n1.allocate_guids({"n2", "0000:01:00.0", {0}}, SmBed::patience()));
  denied(n1.observe(observation(2, "", guid_of(2), ib::PKey(0x8001)), SmBed::patience()));
  denied(n1.get_binding(request.attachment, SmBed::patience()));
  denied(n1.list_bindings(SecureBed::of_node(2), {}, SmBed::patience()));
  denied(n1.watch_bindings(
      SecureBed::of_node(2), [](const auto&) { return true; }, SmBed::patience()));
  check_refused(n1.list_bindings({}, {}, SmBed::patience()), Code::denied, {"all nodes"});
  CHECK(bed.whole() == before);
}

TEST_CASE("what a node says of another node's port is not heard, and of its own it is") {
  SecureBed bed(SecureBed::with_pool());
  bed.partition("blue");
  Client n1 = bed.node(1), n2 = bed.node(2);
  const fabricapi::BindRequest request = bed.unseen_request(2, "blue");
  const auto bound = n2.bind(request, SmBed::patience(Duration(1000)));
  REQUIRE_MESSAGE(bound, bound.error().text());
  CHECK(bound->state != fabric::State::verified);
  // Verified by nobody but the port's own node.
  const auto stamp = n2.observe({"n2", "", {}}, SmBed::patience());
  REQUIRE(stamp);
  const SecureBed::Whole before = bed.whole();
  CHECK(stamp->wanted == std::vector{request.guid});
  const ib::PKey key(0x8001);
  check_refused(n1.observe(observation(1, stamp->stamp, request.guid, key), SmBed::patience()),
                Code::denied, {request.guid.text(), "n1"});
  CHECK(bed.whole() == before);
  // Nor is a table that was read before the key could be in it.
  REQUIRE(n2.observe(observation(2, "", request.guid, key), SmBed::patience()));
  CHECK(n2.get_binding(request.attachment, SmBed::patience())->state != fabric::State::verified);
  // One counts that was read when the sweep was over: a node tells what it reads again and again.
  std::string newest = stamp->stamp;
  bed.until([&] {
    const auto told = n2.observe(observation(2, newest, request.guid, key), SmBed::patience());
    REQUIRE(told);
    newest = told->stamp;
    return n2.get_binding(request.attachment, SmBed::patience())->state == fabric::State::verified;
  });
  CHECK(n2.get_binding(request.attachment, SmBed::patience())->proof == fabric::Proof::node);
}

TEST_CASE(
    "a namespace that a partition does not name gets no key of it, and learns nothing of it") {
  SecureBed bed;
  fabric::Tenancy blue = SmBed::tenancy("blue");
  blue.allowed = {"team-blue"};
  bed.partition(blue);
  const SecureBed::Whole before = bed.whole();
  fabricapi::BindRequest request = SmBed::request(1, "blue");
  const auto refused = bed.node(1).bind(request, SmBed::patience());
  check_refused(refused, Code::denied, {"blue", "namespace team"});
  request.partitions = {{"nowhere", {}}};
  const auto none = bed.node(1).bind(request, SmBed::patience());
  check_refused(none, Code::denied, {"nowhere", "namespace team"});
  // An administrator is told what would be right.
  check_refused(bed.administrator().bind(SmBed::request(1, "blue"), SmBed::patience()),
                Code::denied, {"blue", "namespace team", "among those allowed"});
  CHECK(bed.whole() == before);
  request = SmBed::request(1, "blue");
  request.pod.name_space = "team-blue";
  const auto bound = bed.node(1).bind(request, SmBed::patience());
  REQUIRE_MESSAGE(bound, bound.error().text());
  CHECK(bound->state == fabric::State::verified);
}

TEST_CASE("a node that a partition does not name gets no key of it, whatever pods it says it has") {
  SecureBed bed;
  fabric::Tenancy blue = SmBed::tenancy("blue");
  blue.nodes = {"n2", "gpu-*"};
  bed.partition(blue);
  const SecureBed::Whole before = bed.whole();
  fabricapi::BindRequest request = SmBed::request(1, "blue");
  check_refused(bed.node(1).bind(request, SmBed::patience()), Code::denied,
                {"there is no partition blue", "namespace team"});
  request.partitions = {{"nowhere", {}}};
  check_refused(bed.node(1).bind(request, SmBed::patience()), Code::denied,
                {"there is no partition nowhere", "namespace team"});
  check_refused(bed.administrator().bind(SmBed::request(1, "blue"), SmBed::patience()),
                Code::denied, {"blue", "node n1"});
  CHECK(bed.whole() == before);
  CHECK(bed.metric("ibpod_sm_wrong_node_binds_total") == 2);
  const auto bound = bed.node(2).bind(SmBed::request(2, "blue"), SmBed::patience());
  REQUIRE_MESSAGE(bound, bound.error().text());
  CHECK(bound->state == fabric::State::verified);
}

TEST_CASE("a node gets as many memberships as it may, and leaves with all of them") {
  SecureBed bed(SecureBed::with_pool() + R"(, "limits": {"membershipsOfNode": 2})");
  bed.partition("blue");
  bed.partition("red");
  fabricapi::Client n1 = bed.node(1);
  fabricapi::BindRequest first = SmBed::request(1, "blue");
  first.partitions.push_back({"red", {}});
  REQUIRE(n1.bind(first, SmBed::patience()));
  const fabricapi::BindRequest second = bed.unseen_request(1, "blue");
  check_refused(n1.bind(second, SmBed::patience()), Code::busy,
                {"node n1", "3 memberships", "may have 2", "limits.membershipsOfNode"});
  REQUIRE(bed.node(2).bind(SmBed::request(2, "blue"), SmBed::patience()));
  const auto gone = n1.unbind(first.attachment, SmBed::patience());
  REQUIRE_MESSAGE(gone, gone.error().text());
  CHECK(gone->state == fabric::State::released);
  CHECK(n1.bind(second, SmBed::patience(Duration(1000))));
}

TEST_CASE("no partition gets a P_Key that is reserved, or outside the ranges") {
  SecureBed bed;
  const SecureBed::Whole before = bed.whole();
  Client administrator = bed.administrator();
  fabric::Tenancy tenancy = SmBed::tenancy("blue");
  for (const uint16_t number : std::vector<uint16_t>{0x7fff, 0xffff, 0x8000, 0x8001}) {
    CAPTURE(number);
    tenancy.pkey = ib::PKey(number);
    check_refused(administrator.create_partition(tenancy, SmBed::patience()), Code::invalid,
                  {"pkey", "0x7ffe", std::to_string(number)});
  }
  for (const uint16_t number : std::vector<uint16_t>{0x0100, 0x2000, 0x7ffe, 0x0005}) {
    CAPTURE(number);
    tenancy.pkey = ib::PKey(number);
    check_refused(administrator.create_partition(tenancy, SmBed::patience()), Code::invalid,
                  {tenancy.pkey->text(), "0x1000-0x10ff"});
  }
  CHECK(bed.whole() == before);
  // 0 asks for one of the pool, and is never the key itself.
  tenancy.pkey = ib::PKey();
  const auto made = administrator.create_partition(tenancy, SmBed::patience());
  REQUIRE_MESSAGE(made, made.error().text());
  CHECK(made->tenancy.pkey == ib::PKey(0x0001));
}

// All that changes anything but a node's own bindings.
void check_denied_to(Client caller, const std::string& name) {
  const auto denied = [&](const auto& result, const std::string& what) {
    check_refused(result, Code::denied, {"CN=" + name, "may not " + what});
  };
  const Deadline deadline = SmBed::patience();
  denied(caller.create_partition(SmBed::tenancy("red"), deadline), "create partitions");
  denied(caller.update_partition(SmBed::tenancy("blue"), deadline), "update partitions");
  denied(caller.delete_partition("blue", deadline), "delete partitions");
  denied(caller.forget_node({"n1", true}, deadline), "forget a node");
}

TEST_CASE("a node makes no partition, and forgets no node") {
  SecureBed bed;
  bed.partition("blue");
  REQUIRE(bed.node(1).bind(SmBed::request(1, "blue"), SmBed::patience()));
  const SecureBed::Whole before = bed.whole();
  check_denied_to(bed.node(1), "system:node:n1");
  check_denied_to(bed.node(2), "system:node:n2");
  check_refused(bed.node(2).list_partitions({}, SmBed::patience()), Code::denied);
  check_refused(bed.node(2).list_nodes(SmBed::patience()), Code::denied);
  CHECK(bed.whole() == before);
}

TEST_CASE("a reader changes nothing") {
  SecureBed bed(SecureBed::with_pool());
  bed.partition("blue");
  REQUIRE(bed.node(1).bind(SmBed::request(1, "blue"), SmBed::patience()));
  const SecureBed::Whole before = bed.whole();
  Client reader = bed.reader();
  check_denied_to(reader, "auditor");
  const auto denied = [](const auto& result) {
    check_refused(result, Code::denied, {"CN=auditor, reader, may not"});
  };
  denied(reader.bind(SmBed::request(2, "blue"), SmBed::patience()));
  denied(reader.unbind({"n1", "c1", "net1"}, SmBed::patience()));
  denied(reader.sync({"n1", {}}, SmBed::patience()));
  denied(reader.allocate_guids({"n1", "0000:01:00.0", {0}}, SmBed::patience()));
  denied(reader.observe(observation(1, "", guid_of(1), ib::PKey(0x8001)), SmBed::patience()));
  CHECK(bed.whole() == before);
  // And sees what there is.
  const auto seen = reader.list_bindings({}, {}, SmBed::patience());
  REQUIRE(seen);
  CHECK(seen->items == before.bindings);
  CHECK(reader.list_partitions({}, SmBed::patience())->items == before.partitions);
}

}  // namespace
}  // namespace ibpod
