// A plugin as a runtime calls it, on a modelled node: environment and standard input in, JSON and
// an exit code out. Base of the tests of the plugins.
#pragma once

#include "lib/attach/agent_required_file.h"
#include "lib/attach/plugin.h"
#include "lib/node/traced_kernel.h"
#include "tests/support/fake_agent.h"
#include "tests/support/fake_kernel.h"
#include "tests/support/temp_folder.h"

#include <memory>
#include <string>

#include <doctest/doctest.h>

namespace ibpod::attach {

inline const Path kCalledPod = "/run/netns/pod";

struct PluginFixture {
  PluginKind kind;
  fake::FakeKernel k = fake::node_with(1, 2);
  TempFolder state;
  TempFolder programs;
  fake::FakeAgent agent;
  fake::FakeBinder binder{k, state.path() / "made"};
  cni::Environment environment;
  Result<NodeConfig> node = NodeConfig();
  fake::State before;
  bool finishes = false;  // as main does; most tests would only print what they look at themselves

  explicit PluginFixture(PluginKind plugin) : kind(std::move(plugin)) {
    k.state.namespaces[fake::kHostId].path = "/proc/self/ns/net";
    k.make_namespace(kCalledPod);
    environment = {{"CNI_COMMAND", "ADD"},
                   {"CNI_CONTAINERID", "c1"},
                   {"CNI_NETNS", kCalledPod.string()},
                   {"CNI_IFNAME", "net1"},
                   {"CNI_PATH", programs.path().string()},
                   {"PATH", "/usr/bin:/bin"}};
    node->state_folder = state.path() / "made";
    node->device_info_folder = "/devinfo";
    node->log_level = log::Level::error;
    before = k.state;
    agent.binder = &binder;
  }
  // The node outlives a call; the plugin's kernel goes with it.
  PluginDeps deps() {
    return {[this]() -> Result<std::unique_ptr<node::Kernel>> {
              return node::trace(k, [](const node::Step&) {});
            },
            []() -> Result<std::string> { return std::string("boot"); },
            [this](const Path&) -> std::unique_ptr<nodeapi::Node> {
              return std::make_unique<fake::FakeAgent>(agent);
            },
            [this] { return node; }};
  }
  cni::Answer call(const std::string& input) {
    log::Log log(log::Level::error);
    log.set_least(log::Level::error);
    Plugin plugin(kind, deps(), log);
    cni::Answer answer = cni::serve(plugin, environment, input);
    if (finishes) plugin.finish(answer.failure);
    return answer;
  }
  cni::Answer call(const std::string& verb, const std::string& input) {
    environment["CNI_COMMAND"] = verb;
    return call(input);
  }
  // The configuration that identifies an attachment, and `keys`.
  std::string bare(const std::string& keys, const std::string& version = "1.1.0") const {
    return R"({"cniVersion":")" + version + R"(","name":"blue",)" + keys + "}";
  }
  // A valid configuration, followed by `keys`.
  std::string config(const std::string& keys, const std::string& version = "1.1.0") const {
    const std::string first = R"("type":")" + kind.type + "\"";
    return bare(first + (keys.empty() ? "" : ",") + keys, version);
  }
  // The differences to the start: on the node, and in the state folder.
  std::string changes() const {
    std::string text = fake::diff(before, k.state);
    const Path attachments = state.path() / "made" / "attachments";
    const auto files = list_folder(attachments);
    for (const std::string& file : files.value()) text += "+ " + file + "\n";
    return text;
  }
};

// On a marked node whose agent is away nothing is attached, and all that ends something goes on.
inline void expect_needs_agent(PluginFixture& fixture, const std::string& config) {
  REQUIRE(node::Records(fixture.state.path() / "made").make_folder());
  REQUIRE(AgentRequiredFile(fixture.state.path() / "made").write("/run/ibpod/agent.sock"));
  CHECK(fixture.call("STATUS", config).exit_code == 0);
  REQUIRE(fixture.call("ADD", config).exit_code == 0);
  fixture.agent.away = Error::from_errno(ECONNREFUSED, "connect").as(Code::unavailable);
  CHECK(fixture.call("STATUS", config).failure->code == 50);
  CHECK(fixture.call("CHECK", config).exit_code == 0);
  CHECK(fixture.call("GC", fixture.config("")).exit_code == 0);
  CHECK(fixture.call("DEL", config).exit_code == 0);
  const int orders = fixture.k.orders();
  const cni::Answer refused = fixture.call("ADD", config);
  REQUIRE(refused.failure);
  CHECK(refused.failure->code == 11);
  CHECK(refused.failure->message.find("/run/ibpod/agent.sock (connect: Connection refused)") !=
        std::string::npos);
  CHECK(fixture.k.orders() == orders);
  CHECK(fixture.changes() == "");
  REQUIRE(AgentRequiredFile(fixture.state.path() / "made").remove());
  CHECK(fixture.call("ADD", config).exit_code == 0);
}

// On a node whose mark wants each network to name a partition, the one of `keys` names none.
inline void expect_needs_partition(PluginFixture& fixture, const std::string& keys) {
  REQUIRE(node::Records(fixture.state.path() / "made").make_folder());
  const AgentRequiredFile required_file(fixture.state.path() / "made");
  REQUIRE(required_file.write("/run/ibpod/agent.sock"));
  REQUIRE(fixture.call("ADD", fixture.config(keys)).exit_code ==
          0);  // attached while it was allowed
  REQUIRE(required_file.write("/run/ibpod/agent.sock", true));
  CHECK(fixture.call("CHECK", fixture.config(keys)).exit_code == 0);
  CHECK(fixture.call("DEL", fixture.config(keys)).exit_code == 0);
  const int orders = fixture.k.orders();
  const auto refused = [&](const std::string& more) {
    const cni::Answer answer = fixture.call("ADD", fixture.config(keys + more));
    REQUIRE_MESSAGE(answer.failure, more);
    CHECK(answer.failure->code == 7);
    CHECK(fixture.k.orders() == orders);
    return answer.failure->message;
  };
  CHECK(refused("") ==
        "partition: the network names none; this node's agent refuses such networks, because their "
        "pods would be in the default partition: set \"partition\" or \"pkey\" in the network, or "
        "\"withoutPartition\": \"allow\" in the agent's configuration");
  CHECK(refused(R"(,"Name_of_the_Particion":"blue")")
            .starts_with("partition: the network names none; the key \"Name_of_the_Particion\" is "
                         "unknown: did you mean \"partition\"?"));
  CHECK(refused(R"(,"args":{"cni":{"my-p-key":"0x1"}})").find("the key \"args.cni.my-p-key\"") !=
        std::string::npos);
  CHECK(refused(R"(,"partition":"","pkey":"")").find("did you mean") == std::string::npos);
  CHECK(fixture.call("ADD", fixture.config(keys + R"(,"pkey":"0x1")")).exit_code == 0);
  CHECK(fixture.call("DEL", fixture.config(keys)).exit_code == 0);
  CHECK(fixture.changes() == "");
}

// The same where the node's file names the agent, and there is no mark.
inline void expect_needs_named_agent(PluginFixture& fixture, const std::string& keys) {
  const std::string named = fixture.config(keys);
  fixture.node->agent_socket = "/run/ibpod/other.sock";
  fixture.agent.away = Error::from_errno(ECONNREFUSED, "connect").as(Code::unavailable);
  CHECK(fixture.call("STATUS", named).failure->code == 50);
  const cni::Answer refused = fixture.call("ADD", named);
  REQUIRE(refused.failure);
  CHECK(refused.failure->code == 11);
  CHECK(refused.failure->message.starts_with(
      "agentSocket: the node's agent does not answer at /run/ibpod/other.sock"));
  CHECK(fixture.changes() == "");
  CHECK(fixture.call("DEL", named).exit_code == 0);
  fixture.agent.away.reset();
  CHECK(fixture.call("STATUS", named).exit_code == 0);
  CHECK(fixture.call("ADD", named).exit_code == 0);
  CHECK(fixture.call("DEL", named).exit_code == 0);
  CHECK(fixture.changes() == "");
}

// STATUS, ADD, CHECK, GC, DEL, all of them again where that makes sense; what ADD printed.
inline std::string expect_all_verbs(PluginFixture& fixture, const std::string& config) {
  REQUIRE(fixture.call("STATUS", config).exit_code == 0);
  const cni::Answer added = fixture.call("ADD", config);
  REQUIRE(added.exit_code == 0);
  CHECK(fixture.call("CHECK", config).exit_code == 0);
  CHECK(fixture.call("GC", fixture.config("")).exit_code == 0);
  CHECK(fixture.call("CHECK", config).exit_code == 0);
  CHECK(fixture.call("DEL", config).exit_code == 0);
  CHECK(fixture.call("DEL", config).exit_code == 0);
  CHECK(fixture.call("CHECK", config).failure->code == 106);
  CHECK(fixture.changes() == "");
  CHECK(fixture.call("VERSION", "{}").output.find("1.1.0") != std::string::npos);
  return added.output;
}

// An input that is refused, and how.
struct BadInput {
  std::string variable;  // "" : `value` is keys of the configuration; "raw": all of it
  std::string value;
  int code;
  std::string message;
};

// Calls with the bad input in the place of what is right: refused, and the node stays as it was.
inline void expect_refused(PluginFixture& fixture, const BadInput& bad, const std::string& right) {
  std::string input = fixture.config(right);
  if (bad.variable == "raw") input = bad.value;
  if (bad.variable.empty()) input = fixture.config(bad.value);
  if (bad.variable.starts_with("CNI_")) fixture.environment[bad.variable] = bad.value;
  CAPTURE(bad.variable);
  CAPTURE(bad.value);
  const cni::Answer answer = fixture.call(input);
  CHECK(answer.exit_code == 1);
  REQUIRE(answer.failure);
  CHECK(answer.failure->code == bad.code);
  CHECK(answer.failure->message == bad.message);
  CHECK(fixture.changes() == "");
  CHECK(fixture.k.trail().empty());
}

}  // namespace ibpod::attach
