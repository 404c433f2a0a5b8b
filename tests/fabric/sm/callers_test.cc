// Calls that a valid certificate does not permit are refused, say so, and change nothing.
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
  SecureFixture fixture(SecureFixture::with_pool());
  fixture.create_partition("blue");
  Client n1 = fixture.node(1);
  REQUIRE(fixture.node(2).bind(SmFixture::request(2, "blue"), SmFixture::deadline_in()));
  const ib::Guid given = fixture.unseen_guid(3);
  const SecureFixture::ServiceState before = fixture.service_state();
  for (const ib::Guid guid : {guid_of(2), guid_of(4), given, guid_of(kSmHost)}) {
    fabricapi::BindRequest request = SmFixture::request(1, "blue");
    request.guid = guid;
    check_refused(n1.bind(request, SmFixture::deadline_in()), Code::denied,
                  {guid.text(), "VF of node n1", "has not assigned its GUID"});
    request.kind = fabric::Kind::child;
    check_refused(n1.bind(request, SmFixture::deadline_in()), Code::denied,
                  {guid.text(), "PF of node n1"});
  }
  CHECK(fixture.service_state() == before);
}

TEST_CASE("a node does nothing, and sees nothing, in another node's name") {
  SecureFixture fixture(SecureFixture::with_pool());
  fixture.create_partition("blue");
  const fabricapi::BindRequest request = SmFixture::request(2, "blue");
  REQUIRE(fixture.node(2).bind(request, SmFixture::deadline_in()));
  const SecureFixture::ServiceState before = fixture.service_state();
  Client n1 = fixture.node(1);
  const auto denied = [](const auto& result) {
    check_refused(result, Code::denied, {"CN=system:node:n1", "node n2", "only for n1"});
  };
  denied(n1.bind(request, SmFixture::deadline_in()));
  denied(n1.unbind(request.attachment, SmFixture::deadline_in()));
  denied(n1.sync({"n2", {}}, SmFixture::deadline_in()));
  denied(n1.allocate_guids({"n2", "0000:01:00.0", {0}}, SmFixture::deadline_in()));
  denied(n1.observe(observation(2, "", guid_of(2), ib::PKey(0x8001)), SmFixture::deadline_in()));
  denied(n1.get_binding(request.attachment, SmFixture::deadline_in()));
  denied(n1.list_bindings(SecureFixture::of_node(2), {}, SmFixture::deadline_in()));
  denied(n1.watch_bindings(
      SecureFixture::of_node(2), [](const auto&) { return true; }, SmFixture::deadline_in()));
  check_refused(n1.list_bindings({}, {}, SmFixture::deadline_in()), Code::denied, {"all nodes"});
  CHECK(fixture.service_state() == before);
}

TEST_CASE("what a node says of another node's port is not heard, and of its own it is") {
  SecureFixture fixture(SecureFixture::with_pool());
  fixture.create_partition("blue");
  Client n1 = fixture.node(1), n2 = fixture.node(2);
  const fabricapi::BindRequest request = fixture.unseen_request(2, "blue");
  const auto bound = n2.bind(request, SmFixture::deadline_in(Duration(1000)));
  REQUIRE_MESSAGE(bound, bound.error().text());
  CHECK(bound->state != fabric::BindingState::verified);
  // Verified by nobody but the port's own node.
  const auto stamp = n2.observe({"n2", "", {}}, SmFixture::deadline_in());
  REQUIRE(stamp);
  const SecureFixture::ServiceState before = fixture.service_state();
  REQUIRE(stamp->wanted_size() == 1);
  CHECK(stamp->wanted(0) == request.guid.value());
  const ib::PKey key(0x8001);
  check_refused(
      n1.observe(observation(1, stamp->stamp(), request.guid, key), SmFixture::deadline_in()),
      Code::denied, {request.guid.text(), "n1"});
  CHECK(fixture.service_state() == before);
  // Nor is a table that was read before the key could be in it.
  REQUIRE(n2.observe(observation(2, "", request.guid, key), SmFixture::deadline_in()));
  CHECK(n2.get_binding(request.attachment, SmFixture::deadline_in())->state !=
        fabric::BindingState::verified);
  // One counts that was read when the sweep was over: a node tells what it reads again and again.
  std::string newest = stamp->stamp();
  fixture.until([&] {
    const auto told =
        n2.observe(observation(2, newest, request.guid, key), SmFixture::deadline_in());
    REQUIRE(told);
    newest = told->stamp();
    return n2.get_binding(request.attachment, SmFixture::deadline_in())->state ==
           fabric::BindingState::verified;
  });
  CHECK(n2.get_binding(request.attachment, SmFixture::deadline_in())->proof == fabric::Proof::node);
}

TEST_CASE(
    "a namespace that a partition does not name gets no key of it, and learns nothing of it") {
  SecureFixture fixture;
  fabric::Partition blue = SmFixture::sample_partition("blue");
  blue.allowed = {"team-blue"};
  fixture.create_partition(blue);
  const SecureFixture::ServiceState before = fixture.service_state();
  fabricapi::BindRequest request = SmFixture::request(1, "blue");
  const auto refused = fixture.node(1).bind(request, SmFixture::deadline_in());
  check_refused(refused, Code::denied, {"blue", "namespace team"});
  request.partitions = {{"nowhere", {}}};
  const auto none = fixture.node(1).bind(request, SmFixture::deadline_in());
  check_refused(none, Code::denied, {"nowhere", "namespace team"});
  // For an administrator the refusal says how to correct it.
  check_refused(
      fixture.administrator().bind(SmFixture::request(1, "blue"), SmFixture::deadline_in()),
      Code::denied, {"blue", "namespace team", "\"allowed\""});
  CHECK(fixture.service_state() == before);
  request = SmFixture::request(1, "blue");
  request.pod.name_space = "team-blue";
  const auto bound = fixture.node(1).bind(request, SmFixture::deadline_in());
  REQUIRE_MESSAGE(bound, bound.error().text());
  CHECK(bound->state == fabric::BindingState::verified);
}

TEST_CASE("a node that a partition does not name gets no key of it, whatever pods it says it has") {
  SecureFixture fixture;
  fabric::Partition blue = SmFixture::sample_partition("blue");
  blue.nodes = {"n2", "gpu-*"};
  fixture.create_partition(blue);
  const SecureFixture::ServiceState before = fixture.service_state();
  fabricapi::BindRequest request = SmFixture::request(1, "blue");
  check_refused(fixture.node(1).bind(request, SmFixture::deadline_in()), Code::denied,
                {"there is no partition blue", "namespace team"});
  request.partitions = {{"nowhere", {}}};
  check_refused(fixture.node(1).bind(request, SmFixture::deadline_in()), Code::denied,
                {"there is no partition nowhere", "namespace team"});
  check_refused(
      fixture.administrator().bind(SmFixture::request(1, "blue"), SmFixture::deadline_in()),
      Code::denied, {"blue", "node n1"});
  CHECK(fixture.service_state() == before);
  CHECK(fixture.metric("ibpod_sm_wrong_node_binds_total") == 2);
  const auto bound = fixture.node(2).bind(SmFixture::request(2, "blue"), SmFixture::deadline_in());
  REQUIRE_MESSAGE(bound, bound.error().text());
  CHECK(bound->state == fabric::BindingState::verified);
}

TEST_CASE("a node gets as many memberships as it may, and leaves with all of them") {
  SecureFixture fixture(SecureFixture::with_pool() + R"(, "limits": {"membershipsOfNode": 2})");
  fixture.create_partition("blue");
  fixture.create_partition("red");
  fabricapi::Client n1 = fixture.node(1);
  fabricapi::BindRequest first = SmFixture::request(1, "blue");
  first.partitions.push_back({"red", {}});
  REQUIRE(n1.bind(first, SmFixture::deadline_in()));
  const fabricapi::BindRequest second = fixture.unseen_request(1, "blue");
  check_refused(n1.bind(second, SmFixture::deadline_in()), Code::busy,
                {"node n1", "3 memberships", "reached (2)", "limits.membershipsOfNode"});
  REQUIRE(fixture.node(2).bind(SmFixture::request(2, "blue"), SmFixture::deadline_in()));
  const auto gone = n1.unbind(first.attachment, SmFixture::deadline_in());
  REQUIRE_MESSAGE(gone, gone.error().text());
  CHECK(gone->state == fabric::BindingState::released);
  CHECK(n1.bind(second, SmFixture::deadline_in(Duration(1000))));
}

TEST_CASE("no partition gets a P_Key that is reserved, or outside the ranges") {
  SecureFixture fixture;
  const SecureFixture::ServiceState before = fixture.service_state();
  Client administrator = fixture.administrator();
  fabric::Partition partition = SmFixture::sample_partition("blue");
  for (const uint16_t number : std::vector<uint16_t>{0x7fff, 0xffff, 0x8000, 0x8001}) {
    CAPTURE(number);
    partition.pkey = ib::PKey(number);
    check_refused(administrator.create_partition(partition, SmFixture::deadline_in()),
                  Code::invalid, {"pkey", "0x7ffe", std::to_string(number)});
  }
  for (const uint16_t number : std::vector<uint16_t>{0x0100, 0x2000, 0x7ffe, 0x0005}) {
    CAPTURE(number);
    partition.pkey = ib::PKey(number);
    check_refused(administrator.create_partition(partition, SmFixture::deadline_in()),
                  Code::invalid, {partition.pkey->text(), "0x1000-0x10ff"});
  }
  CHECK(fixture.service_state() == before);
  // 0 asks for one of the pool, and is never the key itself.
  partition.pkey = ib::PKey();
  const auto made = administrator.create_partition(partition, SmFixture::deadline_in());
  REQUIRE_MESSAGE(made, made.error().text());
  CHECK(made->spec.pkey == ib::PKey(0x0001));
}

// All that changes anything but a node's own bindings.
void check_denied_to(Client caller, const std::string& name) {
  const auto denied = [&](const auto& result, const std::string& what) {
    check_refused(result, Code::denied, {"CN=" + name, "may not " + what});
  };
  const Deadline deadline = SmFixture::deadline_in();
  denied(caller.create_partition(SmFixture::sample_partition("red"), deadline),
         "create partitions");
  denied(caller.update_partition(SmFixture::sample_partition("blue"), deadline),
         "update partitions");
  denied(caller.delete_partition("blue", deadline), "delete partitions");
  denied(caller.forget_node({"n1", true}, deadline), "forget a node");
}

TEST_CASE("a node makes no partition, and forgets no node") {
  SecureFixture fixture;
  fixture.create_partition("blue");
  REQUIRE(fixture.node(1).bind(SmFixture::request(1, "blue"), SmFixture::deadline_in()));
  const SecureFixture::ServiceState before = fixture.service_state();
  check_denied_to(fixture.node(1), "system:node:n1");
  check_denied_to(fixture.node(2), "system:node:n2");
  check_refused(fixture.node(2).list_partitions({}, SmFixture::deadline_in()), Code::denied);
  check_refused(fixture.node(2).list_nodes(SmFixture::deadline_in()), Code::denied);
  CHECK(fixture.service_state() == before);
}

TEST_CASE("a reader changes nothing") {
  SecureFixture fixture(SecureFixture::with_pool());
  fixture.create_partition("blue");
  REQUIRE(fixture.node(1).bind(SmFixture::request(1, "blue"), SmFixture::deadline_in()));
  const SecureFixture::ServiceState before = fixture.service_state();
  Client reader = fixture.reader();
  check_denied_to(reader, "auditor");
  const auto denied = [](const auto& result) {
    check_refused(result, Code::denied, {"CN=auditor, reader, may not"});
  };
  denied(reader.bind(SmFixture::request(2, "blue"), SmFixture::deadline_in()));
  denied(reader.unbind({"n1", "c1", "net1"}, SmFixture::deadline_in()));
  denied(reader.sync({"n1", {}}, SmFixture::deadline_in()));
  denied(reader.allocate_guids({"n1", "0000:01:00.0", {0}}, SmFixture::deadline_in()));
  denied(
      reader.observe(observation(1, "", guid_of(1), ib::PKey(0x8001)), SmFixture::deadline_in()));
  CHECK(fixture.service_state() == before);
  // And sees what there is.
  const auto seen = reader.list_bindings({}, {}, SmFixture::deadline_in());
  REQUIRE(seen);
  CHECK(seen->items == before.bindings);
  CHECK(reader.list_partitions({}, SmFixture::deadline_in())->items == before.partitions);
}

}  // namespace
}  // namespace ibpod
