#include "sm/ledger/test_ledger.h"

namespace ibpod::sm {
namespace {

using fabricapi::SyncAnswer;
using std::chrono::seconds;

struct Machines : Bed {
  Machines() : Bed({tenancy("blue", 0x100)}, minute()) {
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
    Result<SyncAnswer> answer = ledger->sync(node("n1"), request, now);
    commit();
    return answer;
  }
  // Of those that it does not name.
  size_t told(const std::string& boot, const std::string& container) {
    return sync(boot, container).value().not_named.size();
  }
  const BindRequest first = request("n1", "a", vf(1), {{"blue", kLimited}});
};

TEST_CASE_FIXTURE(Machines, "a second machine of a node's name ends nothing, and is refused") {
  CHECK(told("one", "a") == 0);
  pass(seconds(1));
  CHECK(told("two", "b") == 0);
  CHECK(ledger->doubled(now).empty());  // it may be the first one, after a boot
  pass(seconds(20));
  CHECK(told("one", "a") == 0);
  CHECK(ledger->doubled(now) == std::vector<std::string>{"n1"});
  const Error refused = sync("two", "b").error();
  CHECK(refused.code() == Code::denied);
  CHECK(refused.text().find("two machines call themselves node n1") != std::string::npos);
  CHECK(refused.text().find("silent for 30 s") != std::string::npos);
  CHECK(told("one", "a") == 0);
  CHECK(state(first) == State::verified);
}

TEST_CASE_FIXTURE(Machines,
                  "a node that has booted is heeded at once, and ends what it has no longer "
                  "when its former self has been silent") {
  CHECK(told("one", "a") == 0);
  pass(seconds(10));
  CHECK(told("two", "b") == 0);
  pass(seconds(20));
  CHECK(told("two", "b") == 1);
  CHECK(ledger->doubled(now).empty());
  CHECK(told("two", "b") == 1);
}

TEST_CASE_FIXTURE(Machines, "the one that is left is heeded when the other has ended") {
  told("one", "a");
  told("two", "b");
  told("one", "a");
  CHECK_FALSE(sync("two", "b"));
  pass(seconds(30));
  CHECK(told("two", "b") == 1);
  CHECK(ledger->doubled(now).empty());
}

TEST_CASE_FIXTURE(Machines, "which machine a node is outlives ibpod-sm") {
  told("one", "a");
  start();
  CHECK(told("two", "b") == 0);
  told("one", "a");
  CHECK_FALSE(sync("two", "b"));
}

TEST_CASE_FIXTURE(Machines, "an agent that does not say which machine it is on is heeded") {
  CHECK(told("", "b") == 1);
  CHECK(told("one", "b") == 1);
  CHECK(told("", "b") == 1);
}

}  // namespace
}  // namespace ibpod::sm
