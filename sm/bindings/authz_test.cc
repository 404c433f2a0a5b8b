#include "sm/bindings/authz.h"

#include "sm/bindings/admission.h"
#include "tests/support/registry_fixture.h"

namespace ibpod::sm::bindings {
namespace {

using namespace test;

std::string code(const Error& error) { return std::string(name(error.code())); }

template <typename Value>
std::string code(const Result<Value>& result) {
  return result ? "ok" : code(result.error());
}

TEST_CASE("no pod makes itself more than its partition gives") {
  Partition blue = make_partition("blue", 0x100);
  blue.membership = kLimited;
  Fixture bed({blue, make_partition("red", 0x101)});
  const auto asked = [&](const Caller& caller, const char* partition,
                         std::optional<Membership> membership) {
    return code(bed.registry->bindings.bind(
        caller, request("n1", "a", vf(1), {{partition, membership}}), {}, bed.now));
  };
  CHECK(asked(node("n1"), "blue", kFull) == "denied");
  CHECK(asked(node("n1"), "blue", kBoth) == "denied");
  CHECK(bed.state(request("n1", "a", vf(1), {})) == BindingState::released);
  CHECK(asked(node("n1"), "blue", kLimited) == "ok");
  CHECK(asked(node("n1"), "blue", {}) == "ok");
  for (const Membership membership : {kLimited, kFull, kBoth})
    CHECK(asked(node("n1"), "red", membership) == "ok");
  CHECK(asked(administrator(), "blue", kFull) == "ok");
  CHECK_MESSAGE(asked(node("n1"), "blue", kFull) == "ok", "it stays what it is");
}

TEST_CASE("the bindings of a node are its own, whatever page is asked for") {
  Fixture bed;
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  bed.bind(request("n2", "b", vf(11), {{"blue", kLimited}}));
  for (const std::string partition : {"", "blue"}) {
    fabricapi::BindingFilter filter{"n2", partition, "", "", {}, {}};
    const auto seen = bed.registry->bindings.list(filter, {}).value();
    REQUIRE(seen.items.size() == 1);
    CHECK(seen.items[0].attachment.container == "b");
    // Not with another node's page token, either.
    filter.node = "n1";
    CHECK(bed.registry->bindings.list(filter, {0, "n1/zz/net1"}).value().items.empty());
  }
}

TEST_CASE("a node gets the same error for a missing partition and for a forbidden one") {
  Fixture bed({make_partition("theirs", 0x100, {"other"}), make_partition("unassigned", 0x101, {}),
               make_partition("ours", 0x102, {"x", "team"})});
  const auto refusal = [&](const Caller& caller, const std::string& partition) {
    return bed.registry->bindings
        .bind(caller, request("n1", "a", vf(1), {{partition, {}}}), absent(), bed.now)
        .error();
  };
  for (const std::string partition : {"theirs", "unassigned", "none"}) {
    const Error error = refusal(node("n1"), partition);
    CHECK(error.code() == Code::denied);
    CHECK(error.text() == "bind n1/a/net1: there is no partition " + partition +
                              " that pods of namespace team may be in");
  }
  // The namespace is checked for administrators, too, but the error tells them the reason.
  CHECK(refusal(administrator(), "theirs").code() == Code::denied);
  CHECK(refusal(administrator(), "theirs").text().find("not open to namespace team") !=
        std::string::npos);
  CHECK(refusal(administrator(), "none").code() == Code::not_found);
  // A partition that is being deleted gives the same error.
  REQUIRE(bed.registry->partitions.remove("theirs"));
  CHECK(refusal(node("n1"), "theirs").code() == Code::denied);
  bed.bind(request("n1", "a", vf(1), {{"ours", kLimited}}));
  // One allowed partition of two is not enough.
  CHECK(refusal(node("n1"), "unassigned").code() == Code::denied);
  CHECK(bed.try_bind(request("n1", "b", vf(2), {{"ours", kLimited}, {"unassigned", kLimited}}))
            .error()
            .code() == Code::denied);
}

TEST_CASE(
    "a partition is for the nodes that it names, and to others it is as if it were not there") {
  Partition ours = make_partition("ours", 0x100, {"team"});
  ours.nodes = {"x", "n1"};
  Fixture bed({ours, make_partition("all", 0x101)});
  const auto asked = [](const std::string& of, ib::Guid guid) {
    return request(of, "a", guid, {{"ours", kLimited}});
  };
  const auto refusal = [&](const Caller& caller, const BindRequest& request) {
    return bed.registry->bindings.bind(caller, request, absent(), bed.now).error();
  };
  CHECK(refusal(node("n2"), asked("n2", vf(11))).text() ==
        "bind n2/a/net1: there is no partition ours that pods of namespace team may be in");
  BindRequest by_key = asked("n2", vf(11));
  by_key.partitions = {{"", kLimited, ib::PKey(0x100)}};
  const Error unnamed = bed.registry->bindings.bind(node("n2"), by_key, absent(), bed.now).error();
  CHECK(unnamed.code() == Code::denied);
  CHECK(unnamed.text().find("ours") == std::string::npos);
  CHECK(bindings::denied_to_node(bed.registry->journal.records(), by_key) == "ours");
  CHECK(bindings::denied_to_node(bed.registry->journal.records(), asked("n1", vf(1))).empty());
  by_key.pod.name_space = "others";
  CHECK_MESSAGE(bindings::denied_to_node(bed.registry->journal.records(), by_key).empty(),
                "its namespace would not do either");
  // The error tells an administrator the reason, but administrators have no exception.
  const Error error = refusal(administrator(), asked("n2", vf(11)));
  CHECK(error.code() == Code::denied);
  CHECK(error.text().find("not open to node n2") != std::string::npos);
  bed.bind(asked("n1", vf(1)));
  // An existing binding stays, even if the partition no longer allows its node.
  ours.nodes = {"n2"};
  REQUIRE(bed.registry->partitions.update(ours, bed.now));
  bed.commit();
  CHECK(bed.bind(asked("n1", vf(1))).desired.size() == 1);
  bed.bind(asked("n2", vf(11)));
  CHECK(refusal(node("n1"), request("n1", "b", vf(2), {{"ours", kLimited}})).code() ==
        Code::denied);
}

TEST_CASE("a node binds VFs that are its own") {
  Fixture bed;
  CHECK(bed.refusal(request("n1", "a", vf(11), {{"blue", kLimited}})).code() == Code::denied);
  CHECK(bed.refusal(request("n1", "a", vf(0x1000), {{"blue", kLimited}})).code() == Code::denied);
  CHECK(bed.refusal(request("n1", "a", pf(1), {{"blue", kLimited}})).code() == Code::denied);
  CHECK(bed.refusal(child("n1", "a", vf(1), {{"blue", kLimited}})).code() == Code::denied);
  CHECK(bed.refusal(child("n1", "a", pf(2), {{"blue", kLimited}})).code() == Code::denied);
  REQUIRE(bed.registry->nodes.allocate({"n1", "0000:01:00.0", {0}}));
  CHECK(bed.refusal(request("n2", "a", vf(0x1000), {{"blue", kLimited}})).code() == Code::denied);
  bed.bind(request("n1", "a", vf(0x1000), {{"blue", kLimited}}));
  CHECK(bed.registry->bindings.bind(
      administrator(), request("n3", "a", storage(1), {{"blue", kLimited}}), {}, bed.now));
}

struct Choosers : Fixture {
  static Policy rules() {
    Policy rules = policy();
    rules.guids =
        pool::GuidPool::make({{vf(0x1000), vf(0x1007)}, {vf(0x2000), vf(0x2007), {"team"}}})
            .value();
    rules.nodes["n3"].guids.insert(vf(0x2003));
    rules.nodes["n4"].pfs.insert(vf(0x2004));
    return rules;
  }
  static std::vector<Partition> partitions() {
    Partition blue = make_partition("blue", 0x100);
    blue.members = {{vf(0x2005), kFull, "nfs"}};
    return {blue, make_partition("red", 0x101)};
  }
  Choosers() : Fixture(partitions(), rules()) {}
  static BindRequest choice(const std::string& node, uint64_t number) {
    BindRequest request =
        test::request(node, "c" + std::to_string(number), vf(number), {{"red", kFull}});
    request.guid_requested = true;
    return request;
  }
  std::string refused(const BindRequest& request) const {
    const auto bound =
        registry->bindings.bind(node(request.attachment.node), request, absent(), now);
    return bound ? "" : bound.error().text();
  }
};

TEST_CASE_FIXTURE(Choosers, "a pod can request a free GUID if its namespace may") {
  bind(choice("n1", 0x2001));
  BindRequest others = choice("n2", 0x2002);
  others.pod.name_space = "another";
  CHECK(refused(others).find("GUID 02:00:00:00:00:00:20:02 cannot be requested by pods of "
                             "namespace another: no range of \"guids\" in ibpod-sm's "
                             "configuration has the namespace in \"chosenBy\"") !=
        std::string::npos);
  // Nor the GUID of another VF of its node, which a later pod could have.
  CHECK(refused(choice("n1", 1)).find("cannot be requested by pods") != std::string::npos);
  REQUIRE(registry->nodes.allocate({"n1", "0000:01:00.0", {0}}));
  commit();
  CHECK(refused(choice("n1", 0x1000)).find("cannot be requested by pods") != std::string::npos);
  for (const uint64_t number : {0x2003U, 0x2004U, 0x2005U})
    CHECK(refused(choice("n1", number)).find("cannot be requested: it is already in use") !=
          std::string::npos);
  // Another pod's GUID is refused until its key has left its port.
  CHECK(refused(choice("n2", 0x2001)).find("is bound to a pod of another node") !=
        std::string::npos);
  unbind(choice("n1", 0x2001));
  CHECK(refused(choice("n2", 0x2001)).find("is bound to") != std::string::npos);
  settle();
  bind(choice("n2", 0x2001));
}

TEST_CASE_FIXTURE(Choosers,
                  "a pod keeps its requested GUID, even if the ranges no longer allow it") {
  bind(choice("n1", 0x2001));
  Fixture::settings.guids = pool::GuidPool::make({{vf(0x1000), vf(0x1007)}}).value();
  start();
  bind(choice("n1", 0x2001));
  CHECK(refused(choice("n2", 0x2002)).find("cannot be requested") != std::string::npos);
}

TEST_CASE("a PF may be the first node's that binds a child on it, until that is forgotten") {
  Policy rules = policy();
  rules.pfs_by_first_claim = true;
  rules.limits.pfs_of_node = 2;
  Partition blue = make_partition("blue", 0x100);
  blue.members = {{storage(1), kLimited, ""}};
  Fixture bed({blue}, rules);
  const BindRequest a = child("n1", "a", pf(11), {{"blue", kLimited}});
  bed.bind(a);
  CHECK(bed.refusal(child("n2", "b", pf(11), {{"blue", kLimited}})).code() == Code::denied);
  bed.unbind(a);
  bed.settle();
  bed.start();
  CHECK(bed.refusal(child("n2", "b", pf(11), {{"blue", kLimited}})).code() == Code::denied);
  // GUIDs with an owner: configured, a storage server's, the pool's, a VF's.
  bed.bind(request("n2", "v", vf(11), {{"blue", kLimited}}));
  REQUIRE(bed.registry->nodes.allocate({"n2", "0000:01:00.0", {0}}));
  for (const ib::Guid guid : {pf(2), vf(12), storage(1), vf(0x1000), vf(0x1003), vf(11)})
    CHECK(bed.refusal(child("n1", "b", guid, {{"blue", kLimited}})).code() == Code::denied);
  bed.bind(child("n1", "b", pf(12), {{"blue", kLimited}}));
  CHECK(bed.refusal(child("n1", "c", pf(13), {{"blue", kLimited}})).code() == Code::denied);
  REQUIRE(bed.registry->nodes.forget({"n1", true}, bed.now));
  bed.settle();
  bed.bind(child("n2", "b", pf(11), {{"blue", kLimited}}));
}

TEST_CASE("a refused request claims nothing") {
  Policy rules = policy();
  rules.pfs_by_first_claim = true;
  Fixture bed({make_partition("blue", 0x100)}, rules);
  CHECK(bed.refusal(child("n1", "a", pf(11), {{"none", kLimited}})).code() == Code::denied);
  CHECK_FALSE(bed.registry->bindings.bind(node("n1"),
                                          child("n1", "a", pf(11), {{"blue", kLimited}}),
                                          PortFacts{.capacity = {1, 0, 1}}, bed.now));
  bed.bind(child("n2", "a", pf(11), {{"blue", kLimited}}));
}

}  // namespace
}  // namespace ibpod::sm::bindings
