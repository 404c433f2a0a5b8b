// Two clusters that both have a node n1 and a namespace `team`: neither can act on, see or release
// what the other has.
#include "sm/state/names.h"
#include "sm/state/stored.h"
#include "tests/support/registry_fixture.h"

namespace ibpod::sm::bindings {
namespace {

using namespace test;

// A request as sm/api makes it of one by an agent of the cluster `dev`.
BindRequest in_dev(BindRequest wish) {
  wish.attachment.node = "dev/" + wish.attachment.node;
  wish.pod.name_space = "dev/" + wish.pod.name_space;
  return wish;
}

// VFs 101 to 109 and PF 11 are of dev/n1.
Policy two_clusters() {
  Policy rules = policy();
  rules.clusters = {"prod", {"dev"}};
  rules.lease = std::chrono::seconds(60);
  Policy::NodePorts& given = rules.nodes["dev/n1"];
  for (uint64_t n = 101; n <= 109; ++n) given.guids.insert(vf(n));
  given.pfs.insert(pf(11));
  return rules;
}

std::vector<Partition> partitions() {
  return {make_partition("prods", 0x100, {"team"}), make_partition("devs", 0x101, {"dev/team"}),
          make_partition("everyones", 0x102, {"*/team"}), make_partition("any", 0x103, {"*/*"})};
}

fabricapi::BindingFilter of(const std::string& node, const std::string& partition,
                            const std::string& name_space = "") {
  return {node, partition, name_space, "", {}, {}};
}

struct TwoClusters : Fixture {
  TwoClusters() : Fixture(partitions(), two_clusters()) {}
  const BindRequest prods = request("n1", "c", vf(1), {{"everyones", kLimited}});
  const BindRequest devs = in_dev(request("n1", "c", vf(101), {{"everyones", kLimited}}));
};

TEST_CASE("clusters: attachments of the same names are two bindings, also after a restart") {
  TwoClusters bed;
  bed.bind(bed.prods);
  bed.bind(bed.devs);
  bed.settle();
  for (int start = 0; start < 2; ++start) {
    CAPTURE(start);
    CHECK(bed.binding(bed.prods)->guid == vf(1));
    CHECK(bed.binding(bed.prods)->pod.name_space == "team");
    CHECK(bed.binding(bed.devs)->guid == vf(101));
    CHECK(bed.binding(bed.devs)->pod.name_space == "dev/team");
    CHECK(bed.registry->nodes.find("n1")->bindings() == 1);
    CHECK(bed.registry->nodes.find("dev/n1")->bindings() == 1);
    bed.start();
  }
  bed.settle();
  bed.unbind(bed.devs);
  bed.settle();
  CHECK_FALSE(bed.binding(bed.devs));
  CHECK(bed.state(bed.prods) == BindingState::verified);
}

TEST_CASE("clusters: a partition is open to the namespaces of the clusters that it names") {
  TwoClusters bed;
  const auto result = [&](BindRequest wish, const std::string& partition) {
    wish.partitions = {{partition, kLimited}};
    const auto bound = bed.try_bind(wish);
    bed.commit();
    if (bound) bed.unbind(wish);
    bed.settle();
    return bound ? std::string("ok") : bound.error().text();
  };
  for (const std::string open : {"everyones", "any"}) {
    CHECK(result(bed.prods, open) == "ok");
    CHECK(result(bed.devs, open) == "ok");
  }
  CHECK(result(bed.prods, "prods") == "ok");
  CHECK(result(bed.devs, "devs") == "ok");
  CHECK(result(bed.prods, "devs") ==
        "bind n1/c/net1: there is no partition devs that pods of namespace team may be in");
  CHECK(result(bed.devs, "prods") ==
        "bind dev/n1/c/net1: there is no partition prods that pods of namespace dev/team may be "
        "in");
}

TEST_CASE("clusters: no node speaks for the namespace of another cluster") {
  TwoClusters bed;
  BindRequest forged = bed.devs;
  forged.pod.name_space = "team";
  forged.partitions = {{"prods", kLimited}};
  for (const Caller& caller : {node("dev/n1"), administrator()}) {
    const auto refused = bed.registry->bindings.bind(caller, forged, bed.facts, bed.now);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Code::denied);
    CHECK(refused.error().text() ==
          "bind dev/n1/c/net1: pod.namespace: expected dev/NAMESPACE, as the node is dev/n1, got "
          "team");
  }
  forged = bed.prods;
  forged.pod.name_space = "dev/team";
  CHECK(
      bed.refusal(forged).text() ==
      "bind n1/c/net1: pod.namespace: expected one of the default cluster, as the node is n1, got "
      "dev/team");
  CHECK(bed.registry->bindings.list({}, {}).value().items.empty());
}

TEST_CASE("clusters: a name of no cluster of the configuration makes no node, and finds nothing") {
  const auto error = [](const auto& result) {
    REQUIRE_FALSE(result);
    CHECK(result.error().code() == Code::invalid);
    return result.error().text();
  };
  for (const bool several : {true, false}) {
    Policy rules = two_clusters();
    if (!several) rules.clusters = {};
    Fixture bed({make_partition("any", 0x103, {"*/*"})}, rules);
    for (const std::string cluster : {"prod", "typo"}) {
      CAPTURE(cluster);
      const std::string name = cluster + "/n1";
      std::string wrong = R"(expected a name without a cluster, got ")";
      if (several)
        wrong = R"(expected dev before the '/', or a name of the default cluster, got ")";
      if (several && cluster == "prod") wrong = R"(expected "n1", got ")";
      BindRequest bind = request("n1", "c", vf(1), {{"any", kLimited}});
      bind.attachment.node = name;
      bind.pod.name_space = cluster + "/team";
      const auto bound = bed.registry->bindings.bind(administrator(), bind, bed.facts, bed.now);
      CHECK(error(bound).starts_with("bind " + name + "/c/net1: attachment.node: " + wrong + name));
      auto& nodes = bed.registry->nodes;
      auto& bindings = bed.registry->bindings;
      CHECK(error(nodes.sync({name, {}}, bed.now)).starts_with("node: " + wrong));
      CHECK(error(nodes.allocate({name, "0000:01:00.0", {0}})).starts_with("node: " + wrong));
      CHECK(error(bindings.list(of(name, ""), {})).starts_with("node: " + wrong));
      CHECK(error(bindings.list(of("", "", name), {})).starts_with("namespace: " + wrong));
      CHECK(error(bindings.unbind(bind.attachment, bed.now))
                .starts_with("attachment.node: " + wrong));
      CHECK_FALSE(nodes.find(name));
    }
  }
}

TEST_CASE("clusters: what is left of one that is no longer configured is shown, and can end") {
  TwoClusters bed;
  bed.bind(bed.devs);
  bed.settle();
  bed.settings.clusters = {"prod", {}};
  bed.start();
  const auto& bindings = bed.registry->bindings;
  CHECK(bindings.list(of("dev/n1", ""), {}).value().items.size() == 1);
  CHECK(bindings.list(of("", "", "dev/team"), {}).value().items.size() == 1);
  CHECK(bed.binding(bed.devs));
  CHECK(bed.refusal(bed.devs).code() == Code::invalid);
  CHECK_FALSE(bed.registry->nodes.sync({"dev/n1", {}}, bed.now));
  bed.unbind(bed.devs);
  bed.settle();
  CHECK_FALSE(bed.binding(bed.devs));
  REQUIRE(bed.registry->nodes.forget({"dev/n1", true}, bed.now));
  bed.commit();
  CHECK_FALSE(bed.registry->nodes.find("dev/n1"));
  CHECK_FALSE(bindings.list(of("dev/n1", ""), {}));
}

TEST_CASE("clusters: a port, a PF and a GUID of one cluster's n1 are not those of the other's") {
  TwoClusters bed;
  BindRequest taken = bed.devs;
  taken.guid = vf(1);
  CHECK(bed.refusal(taken).code() == Code::denied);
  CHECK(bed.refusal(in_dev(child("n1", "d", pf(1), {{"any", kLimited}}))).code() == Code::denied);
  taken = bed.prods;
  taken.guid = vf(101);
  CHECK(bed.refusal(taken).code() == Code::denied);
  bed.bind(child("n1", "d", pf(1), {{"any", kLimited}}));
  bed.bind(in_dev(child("n1", "d", pf(11), {{"any", kLimited}})));

  const auto ours = bed.registry->nodes.allocate({"n1", "0000:01:00.0", {0, 1}}).value();
  const auto theirs = bed.registry->nodes.allocate({"dev/n1", "0000:01:00.0", {0, 1}}).value();
  bed.commit();
  for (const auto& one : ours)
    for (const auto& other : theirs) CHECK(one.guid != other.guid);
  for (int start = 0; start < 2; ++start) {
    CHECK(bed.registry->nodes.owner_of(ours[0].guid, "n1") == PortOwner::this_node);
    CHECK(bed.registry->nodes.owner_of(ours[0].guid, "dev/n1") == PortOwner::other_node);
    CHECK(bed.registry->nodes.owner_of(theirs[0].guid, "n1") == PortOwner::other_node);
    CHECK(bed.registry->nodes.allocate({"n1", "0000:01:00.0", {0, 1}}).value() == ours);
    CHECK(bed.registry->nodes.allocate({"dev/n1", "0000:01:00.0", {0, 1}}).value() == theirs);
    bed.start();
  }
}

TEST_CASE("clusters: the lease of one cluster's node runs out, and that of the other's does not") {
  for (const bool prods_is_silent : {true, false}) {
    TwoClusters bed;
    bed.bind(bed.prods);
    bed.bind(bed.devs);
    bed.settle();
    const BindRequest& silent = prods_is_silent ? bed.prods : bed.devs;
    const BindRequest& alive = prods_is_silent ? bed.devs : bed.prods;
    bed.advance(std::chrono::seconds(40));
    REQUIRE(bed.registry->nodes.sync({alive.attachment.node, {{"c", "net1"}}}, bed.now));
    REQUIRE(bed.registry->bindings.expire(bed.now));
    CHECK(bed.state(silent) == BindingState::verified);
    bed.advance(std::chrono::seconds(30));
    REQUIRE(bed.registry->bindings.expire(bed.now));
    CHECK(bed.state(silent) == BindingState::unknown);
    CHECK(bed.state(alive) == BindingState::verified);
    CHECK(bed.registry->nodes.find(alive.attachment.node));
  }
}

TEST_CASE("clusters: a Sync and forgetting are of the node of one cluster") {
  TwoClusters bed;
  bed.bind(bed.prods);
  bed.bind(bed.devs);
  bed.settle();
  const auto sync = [&](const std::string& name, const std::string& boot) {
    const auto answer = bed.registry->nodes.sync({name, {}, {}, {}, boot}, bed.now);
    bed.commit();
    return answer;
  };
  // Two machines, and not two of one name.
  for (int round = 0; round < 3; ++round) {
    REQUIRE(sync("n1", "boot-1"));
    const auto theirs = sync("dev/n1", "boot-2");
    REQUIRE(theirs);
    REQUIRE(theirs->not_named.size() == 1);
    CHECK(theirs->not_named[0].attachment.node == "dev/n1");
  }
  CHECK(bed.registry->nodes.duplicates(bed.now).empty());
  bed.start();  // neither knows of the other's boot ID
  bed.bind(bed.prods);
  REQUIRE(bed.registry->nodes.forget({"dev/n1", true}, bed.now));
  bed.commit();
  bed.settle();
  CHECK_FALSE(bed.registry->nodes.find("dev/n1"));
  CHECK(bed.state(bed.prods) == BindingState::verified);
  CHECK_FALSE(bed.binding(bed.devs));
}

TEST_CASE("clusters: a stored binding of a pod of another cluster than its node's is refused") {
  TwoClusters bed;
  bed.bind(bed.devs);
  std::string& stored = bed.store.objects.at(state::RecordKind::binding).at("dev/n1/c/net1");
  fabric::Binding binding = state::binding_from(stored).value().binding;
  REQUIRE(binding.pod.name_space == "dev/team");
  for (const std::string other : {"team", "lab/team"}) {
    binding.pod.name_space = other;
    stored = state::to_bytes(state::BindingRecord{binding, {}});
    const auto refused = Registries::load(bed.store, bed.settings, bed.now);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text() ==
          "binding \"dev/n1/c/net1\" of the store: its pod's namespace is of another cluster than "
          "its node");
  }
}

TEST_CASE("clusters: lists and their pages are of the whole name") {
  TwoClusters bed;
  bed.bind(bed.prods);
  bed.bind(bed.devs);
  bed.bind(in_dev(request("n1", "d", vf(102), {{"everyones", kLimited}})));
  const auto containers = [&](const fabricapi::BindingFilter& filter, const std::string& token) {
    std::string found;
    for (fabricapi::PageRequest page{1, token};;) {
      const auto listed = bed.registry->bindings.list(filter, page).value();
      for (const fabric::Binding& one : listed.items) add_item(found, " ", text(one.attachment));
      page.token = listed.next;
      if (page.token.empty()) return found;
    }
  };
  CHECK(containers({}, "") == "dev/n1/c/net1 dev/n1/d/net1 n1/c/net1");
  for (const std::string partition : {"", "everyones"}) {
    CHECK(containers(of("n1", partition), "") == "n1/c/net1");
    CHECK(containers(of("dev/n1", partition), "") == "dev/n1/c/net1 dev/n1/d/net1");
    CHECK(containers(of("dev/n1", partition), "n1/a/net1") == "");
    CHECK(containers(of("n1", partition), "dev/n1/a/net1") == "n1/c/net1");
  }
  CHECK(containers(of("", "", "team"), "") == "n1/c/net1");
  CHECK(containers(of("", "", "dev/team"), "") == "dev/n1/c/net1 dev/n1/d/net1");
  for (const std::string token : {"n1", "n1/c", "/c/net1", "Dev/n1/c/net1", "a/b/n1/c/net1"})
    CHECK_FALSE(bed.registry->bindings.list({}, {1, token}));
}

TEST_CASE("clusters: the limits of a node are of one cluster's") {
  Policy rules = two_clusters();
  rules.limits.bindings_of_node = 1;
  Fixture bed(partitions(), rules);
  bed.bind(request("n1", "a", vf(1), {{"any", kLimited}}));
  bed.bind(in_dev(request("n1", "a", vf(101), {{"any", kLimited}})));
  CHECK(bed.refusal(request("n1", "b", vf(2), {{"any", kLimited}}))
            .text()
            .find("binding limit of node n1 reached") != std::string::npos);
  CHECK(bed.refusal(in_dev(request("n1", "b", vf(102), {{"any", kLimited}})))
            .text()
            .find("binding limit of node dev/n1 reached") != std::string::npos);
}

}  // namespace
}  // namespace ibpod::sm::bindings
