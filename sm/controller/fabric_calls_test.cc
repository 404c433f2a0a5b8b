// The calls of clients: when each of them is answered.
#include "sm/controller/fabric_calls.h"

#include "lib/base/join.h"
#include "sm/controller/test_fixture.h"

namespace ibpod::sm::controller::test {
namespace {

struct Calls : Fixture {
  // The codes of the answers so far, in their order; "ok" for a success.
  template <typename Value>
  fabricapi::Done<Value> done() {
    return [this](const Result<Value>& result) {
      answered.push_back(result ? "ok" : std::string(name(result.error().code())));
    };
  }
  FabricCalls& calls() {
    controller->set_time(now());
    return controller->calls();
  }
  static fabric::Partition spec(const std::string& name) {
    fabric::Partition partition;
    partition.name = name;
    partition.membership = fabric::Membership::full;
    partition.allowed = {"*"};
    return partition;
  }
  // All calls that read, and one that changes a partition.
  void call_all() {
    calls().create_partition(kAdministrator, spec("blue"), done<fabric::PartitionStatus>());
    calls().sync(kNode1, {"n1", {}}, done<fabricapi::SyncAnswer>());
    calls().list_partitions(kAdministrator, {},
                            done<fabricapi::ListPage<fabric::PartitionStatus>>());
    calls().list_bindings(kAdministrator, {}, {}, done<fabricapi::ListPage<fabric::Binding>>());
    calls().list_nodes(kAdministrator, done<v1::ListNodesResponse>());
    calls().plan(kAdministrator, {.partition = {}, .without = "blue"}, done<v1::PlanResponse>());
    calls().explain(kAdministrator, {{kVf1.text()}}, done<fabricapi::Explanation>());
    calls().health(kAdministrator, done<v1::FabricHealthResponse>());
  }

  std::vector<std::string> answered;
};

TEST_CASE_FIXTURE(Calls, "each call is answered once, and not before the commit") {
  call_all();
  CHECK(answered.empty());
  tick();
  CHECK(answered == std::vector<std::string>(8, "ok"));
  tick();
  CHECK(answered.size() == 8);
}

TEST_CASE_FIXTURE(Calls, "if the commit fails, no call is answered with a value") {
  store.fail_at(0, FakeStore::Failure::full);
  call_all();
  tick();
  CHECK(answered == std::vector<std::string>(8, "unavailable"));
  CHECK(registry->journal.records().partitions.empty());
}

TEST_CASE_FIXTURE(Calls, "a refusal does not wait for a commit") {
  partition("blue");
  calls().create_partition(kAdministrator, spec("blue"), done<fabric::PartitionStatus>());
  calls().update_partition(kAdministrator, spec("red"), done<fabric::PartitionStatus>());
  calls().delete_partition(kAdministrator, "red", done<fabric::PartitionStatus>());
  calls().forget_ports(kAdministrator, "red", done<fabric::PartitionStatus>());
  calls().forget_node(kAdministrator, {"n9", true}, deadline(1000), done<v1::FabricNode>());
  CHECK(join(answered, ", ") == "exists, not found, not found, not found, not found");
}

TEST_CASE_FIXTURE(Calls, "partitions that the engine could not enforce are refused") {
  partition("blue");
  engine.refusal = "too many";
  fabric::Partition changed = spec("blue");
  changed.membership = fabric::Membership::limited;
  calls().update_partition(kAdministrator, changed, done<fabric::PartitionStatus>());
  changed.name = "red";
  calls().create_partition(kAdministrator, changed, done<fabric::PartitionStatus>());
  CHECK(answered == std::vector<std::string>(2, "invalid"));
  tick();
  CHECK(registry->partitions.view().find("blue")->spec.membership == fabric::Membership::full);
  CHECK_FALSE(registry->partitions.view().find("red"));
}

TEST_CASE_FIXTURE(Calls, "a Bind waits until its deadline, and no longer than the limit") {
  partition("blue");
  bind(kNode1, request(kVf1, "blue"), 500);
  tick(498);
  CHECK(answers.back().empty());
  tick(1);
  CHECK_FALSE(answers.back().empty());
  bind(kNode1, request(kVf2, "blue", "c2"), 600'000);
  const int limit = 30'000;  // ControllerSettings::call_timeout
  tick(limit - 2);
  CHECK(answers.back().empty());
  tick(1);
  CHECK(answers.back() == "requested");
}

TEST_CASE_FIXTURE(Calls, "a node is forgotten when its bindings are gone, or not at its deadline") {
  partition("blue");
  bind(kNode1, request(kVf1, "blue"));
  calls().forget_node(kAdministrator, {"n1", true}, deadline(500), done<v1::FabricNode>());
  tick();
  CHECK(answered.empty());
  tick(500);
  CHECK(answered == std::vector<std::string>{"ok"});
  CHECK(registry->nodes.find("n1"));
}

}  // namespace
}  // namespace ibpod::sm::controller::test
