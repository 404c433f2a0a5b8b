#include "tests/support/registry_fixture.h"

namespace ibpod::sm::bindings {
namespace {

using namespace test;

using fabricapi::SyncAnswer;
using std::chrono::seconds;

struct Machines : Fixture {
  Machines() : Fixture({make_partition("blue", 0x100)}, minute()) {
    bind(first);
    settle();
  }
  static Policy minute() {
    Policy rules = policy();
    rules.lease = seconds(60);
    return rules;
  }
  Result<SyncAnswer> sync(const std::string& boot, const std::string& container) {
    fabricapi::SyncRequest request{"n1", {{container, "net1"}}};
    request.boot = boot;
    Result<SyncAnswer> answer = registry->nodes.sync(request, now);
    commit();
    return answer;
  }
  // The number of bindings that the Sync does not name.
  size_t told(const std::string& boot, const std::string& container) {
    return sync(boot, container).value().not_named.size();
  }
  const BindRequest first = request("n1", "a", vf(1), {{"blue", kLimited}});
};

// A first machine, and a second one that is known to be alive beside it.
struct Two : Machines {
  Two() {
    told("one", "a");
    advance(seconds(1));
    told("two", "b");
    advance(seconds(20));
    told("one", "a");
  }
};

TEST_CASE_FIXTURE(Machines, "a second machine of a node's name ends nothing, and is refused") {
  CHECK(told("one", "a") == 0);
  advance(seconds(1));
  CHECK(told("two", "b") == 0);
  CHECK(registry->nodes.duplicates(now).empty());  // it may be the first one after a reboot
  advance(seconds(20));
  CHECK(told("one", "a") == 0);
  CHECK(registry->nodes.duplicates(now) == std::vector<std::string>{"n1"});
  const Error refused = sync("two", "b").error();
  CHECK(refused.code() == Code::denied);
  CHECK(refused.text().find("two machines use the name of node n1") != std::string::npos);
  CHECK(refused.text().find("no Sync for 60 s") != std::string::npos);
  CHECK(told("one", "a") == 0);
  CHECK(state(first) == BindingState::verified);
}

TEST_CASE_FIXTURE(Two, "while both are alive, neither gets the other's bindings") {
  bind(request("n1", "b", vf(2), {{"blue", kLimited}}));
  CHECK(told("one", "a") == 0);
  CHECK_FALSE(sync("two", "b"));
  advance(seconds(91));  // the second machine has ended
  CHECK(told("one", "a") == 1);
  CHECK(registry->nodes.duplicates(now).empty());
}

TEST_CASE_FIXTURE(Machines,
                  "a node that has booted asks again when its former self has been silent, and "
                  "ends what it has no longer") {
  CHECK(told("one", "a") == 0);
  advance(seconds(10));
  const SyncAnswer answer = sync("two", "b").value();
  CHECK(answer.not_named.empty());
  CHECK(answer.lease == seconds(60));  // 30 s of silence are left; a lease at most
  advance(seconds(20));
  CHECK(sync("two", "b").value().lease == seconds(30));
  advance(seconds(10));
  CHECK(told("two", "b") == 1);
  CHECK(registry->nodes.duplicates(now).empty());
  CHECK(sync("two", "b").value().lease == seconds(60));
}

TEST_CASE_FIXTURE(Two,
                  "the one that is left is accepted when the other has been silent for a lease") {
  CHECK_FALSE(sync("two", "b"));
  advance(seconds(59));
  CHECK_FALSE(sync("two", "b"));
  advance(seconds(1));
  CHECK(told("two", "b") == 1);
  CHECK(registry->nodes.duplicates(now).empty());
}

TEST_CASE_FIXTURE(Two, "what is known of them outlives a write that fails") {
  store.fail_at(0, FakeStore::Failure::full);
  REQUIRE(registry->bindings.bind(node("n1"), request("n1", "b", vf(2), {{"blue", kLimited}}),
                                  absent(), now));
  CHECK_FALSE(registry->journal.commit(now).status);
  CHECK_FALSE(sync("two", "b"));
  CHECK(registry->nodes.duplicates(now) == std::vector<std::string>{"n1"});
}

TEST_CASE_FIXTURE(Machines, "a Sync alone writes nothing") {
  const size_t before = store.commits();
  told("one", "a");
  told("two", "a");
  CHECK(store.commits() == before);
}

TEST_CASE_FIXTURE(Machines, "an agent that does not say which machine it is on is heeded") {
  CHECK(told("", "b") == 1);
  CHECK(told("one", "b") == 1);
  CHECK(told("", "b") == 1);
}

}  // namespace
}  // namespace ibpod::sm::bindings
