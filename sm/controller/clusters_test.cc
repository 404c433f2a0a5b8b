// Two clusters that both have a node n1 and a namespace team-a, at the controller: what is
// verified, reported, limited, logged and shown is that of one of them.
#include "sm/controller/test_served.h"

namespace ibpod::sm::controller::test {
namespace {

const fabricapi::Caller kDevNode1{fabricapi::Role::node, "dev/n1", "agent of dev/n1", "dev"};

fabricapi::BindRequest devs_request() {
  fabricapi::BindRequest made = request(kDevVf, "shared", "c1", "dev/n1");
  made.pod.name_space = "dev/" + made.pod.name_space;
  return made;
}

struct TwoClusters : Fixture {
  TwoClusters() {
    ports[kDevVf] = {};
    partition("shared", {"*/team-a"});
    bind(kNode1, request(kVf1, "shared"));
    bind(kDevNode1, devs_request());
    settle();
  }
  const fabric::Attachment ours{"n1", "c1", "net1"}, theirs{"dev/n1", "c1", "net1"};
  fabric::BindingState state(const fabric::Attachment& attachment) const {
    return binding(attachment).state;
  }
};

TEST_CASE_FIXTURE(TwoClusters, "clusters: a binding of one is released, and the other's stays") {
  CHECK(answers == std::vector<std::string>{"verified", "verified"});
  unbind(kDevNode1, theirs);
  settle();
  CHECK_FALSE(registry->bindings.binding(theirs));
  CHECK(state(ours) == fabric::BindingState::verified);
  CHECK(logged("unbind dev/n1/c1/net1").find("\"by\":\"agent of dev/n1\"") != std::string::npos);
}

TEST_CASE_FIXTURE(TwoClusters, "clusters: a node reports tables of its own cluster's ports only") {
  CHECK(observe(kDevNode1, kVf1, table_of({ib::PKey(0x8001)})) == "denied");
  CHECK(observe(kNode1, kDevVf, table_of({ib::PKey(0x8001)})) == "denied");
  CHECK(observe(kDevNode1, kDevVf, table_of({ib::PKey(0x8001)})) == "ok");
}

TEST_CASE_FIXTURE(TwoClusters, "clusters: pods of one name are explained apart") {
  const auto explained = [&](const std::string& subject) {
    std::string found;
    controller->set_time(now());
    controller->calls().explain(kAdministrator, {{subject}},
                                [&](const Result<fabricapi::Explanation>& answer) {
                                  if (!answer) found = answer.error().text();
                                  if (answer)
                                    for (const auto& one : answer->subjects)
                                      found += one.guid.text();
                                });
    tick();
    return found;
  };
  CHECK(explained("team-a/pod-c1") == kVf1.text());
  CHECK(explained("dev/team-a/pod-c1") == kDevVf.text());
  CHECK(
      explained("lab/team-a/pod-c1") ==
      "'lab/team-a/pod-c1': namespace: expected dev before the '/', or a name of the default "
      "cluster, got \"lab/team-a\": \"clusters\" of ibpod-sm's configuration has no other cluster");
  CHECK(explained("prod/team-a/pod-c1")
            .starts_with("'prod/team-a/pod-c1': namespace: expected \"team-a\", got "));
}

TEST_CASE_FIXTURE(TwoClusters,
                  "clusters: a namespace that another cluster has, too, is a new one") {
  const auto first_bindings = [&] {
    const std::string text = telemetry.metrics().text();
    return text.find("ibpod_sm_first_bindings_total 1") != std::string::npos;
  };
  CHECK_FALSE(first_bindings());
  // The same namespace on another node of its cluster.
  bind(kNode2, request(kVf3, "shared", "c2", "n2"));
  CHECK(first_bindings());
}

TEST_CASE("clusters: the rate of one cluster's node is not that of the other's") {
  Fixture bed;
  bed.ports[kDevVf] = {};
  bed.changes = {.per_second = 0.001, .burst = 1};
  bed.restart();
  bed.partition("shared", {"*/team-a"});
  bed.bind(kNode1, request(kVf1, "shared"));
  CHECK(bed.bind(kNode1, request(kVf2, "shared", "c2")) == "busy");
  CHECK(bed.bind(kDevNode1, devs_request()) == "");
}

TEST_CASE_FIXTURE(ServedFixture, "clusters: two agents of nodes of one name, through the service") {
  thread.start(*controller);
  const auto sync = [&](const fabricapi::Caller& agent, const std::string& boot) {
    is(agent);
    return client.sync({"n1", {}, {}, {}, boot}, soon());
  };
  const auto nodes = [&] {
    is(kReader);
    std::string names;
    const v1::ListNodesResponse listed = client.list_nodes(soon()).value();
    for (const v1::FabricNode& one : listed.nodes()) names += one.name() + " ";
    return names;
  };
  for (int round = 0; round < 3; ++round) {
    CHECK(sync(kNode1, "boot-1"));
    CHECK(sync(kDevNode1, "boot-2"));
  }
  CHECK(nodes() == "dev/n1 n1 ");
  is(kDevNode1);
  CHECK(code_of(client.forget_node({"n1"}, soon())) == Code::denied);
  CHECK(code_of(client.sync({"prod/n1", {}}, soon())) == Code::denied);
  is(kAdministrator);
  CHECK(code_of(client.forget_node({"prod/n1"}, soon())) == Code::not_found);
  REQUIRE(client.forget_node({"dev/n1", true}, soon()));
  CHECK(has(told(), "\"subject\":\"dev/n1\",\"result\":\"granted\""));
  CHECK(nodes() == "n1 ");
  thread.stop();
}

}  // namespace
}  // namespace ibpod::sm::controller::test
