#include "sm/api/call_gate.h"

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

using fabricapi::Caller;
using fabricapi::Role;

const Caller kAdministrator{Role::administrator, "", "unix socket"};
const Caller kNode1{Role::node, "n1", "CN=system:node:n1"};
const Caller kNode2{Role::node, "n2", "CN=system:node:n2"};
const Caller kReader{Role::reader, "", "CN=grafana"};

struct Gate {
  explicit Gate(CallQueue::Limits limits = {}) : tasks(limits) {}

  Status submit(const Caller& who, Call call) {
    return gate.submit(who, call, {"n1/c1/net1", who.node}, [] {});
  }
  Result<AdmittedCall> admit(const Caller& who, Call call) {
    return gate.admit(who, "default", call, *limiter);
  }

  TaskQueue tasks;
  std::vector<std::string> refused;
  Result<Caller> caller = kReader;
  std::shared_ptr<CallLimiter> limiter = std::make_shared<CallLimiter>("calls", 100, 4);
  CallGate gate{
      {[this](const rpc::Peer&) { return caller; }, tasks,
       [this](const Caller& who, std::string_view action, const std::string& subject,
              const Error& why) {
         refused.push_back(who.name + " " + std::string(action) + " " + subject + " " + why.text());
       }},
      "default"};
};

TEST_CASE("call gate: a caller's many calls leave the places of others, and its own Unbind") {
  Gate gate({.all = 10, .of_one = 4, .reserve_of_all = 5, .reserve_of_one = 1});
  for (int n = 0; n < 3; ++n) CHECK(gate.submit(kNode1, Call::bind));
  const Status fourth = gate.submit(kNode1, Call::bind);
  REQUIRE_FALSE(fourth);
  CHECK(fourth.error().code() == Code::unavailable);
  CHECK(gate.refused.size() == 1);
  CHECK(gate.refused.back() ==
        "CN=system:node:n1 bind n1/c1/net1 node n1: limit of waiting calls reached (3); try again "
        "later");
  CHECK(gate.submit(kNode1, Call::unbind));
  CHECK_FALSE_MESSAGE(gate.submit(kNode1, Call::sync),
                      "its fifth call is one too many, whatever it is");
  CHECK(gate.submit(kNode2, Call::bind));
  CHECK_FALSE_MESSAGE(gate.submit(kNode2, Call::bind), "all places but the reserve are taken");
  CHECK(gate.submit(kNode2, Call::sync));
  CHECK(gate.submit(kAdministrator, Call::list_nodes));
}

TEST_CASE("call gate: of the places for calls in progress, the same calls have the reserved ones") {
  Gate gate;
  std::vector<Result<AdmittedCall>> admitted;
  for (int n = 0; n < 3; ++n) admitted.push_back(gate.admit(kNode1, Call::bind));
  for (const auto& one : admitted) CHECK(one);
  CHECK_FALSE(gate.admit(kNode1, Call::observe));
  for (const Call call : {Call::unbind, Call::sync}) CHECK(gate.admit(kNode1, call));
}

TEST_CASE("call gate: what is refused after its caller is known is reported, if it has an action") {
  Gate gate;
  CHECK(gate.submit(kReader, Call::bind).error().code() == Code::denied);
  CHECK(gate.refused.back() == "CN=grafana bind n1/c1/net1 CN=grafana, reader, may not bind");
  CHECK(gate.submit(kNode1, Call::plan).error().code() == Code::denied);
  gate.tasks.stop();
  CHECK(gate.submit(kReader, Call::health).error().code() == Code::unavailable);
  CHECK(gate.refused.size() == 1);
}

}  // namespace
}  // namespace ibpod::sm::api
