#include "tests/support/multus/thick.h"

#include "tests/support/multus/multus.h"
#include "tests/support/multus/test_cluster.h"

#include <doctest/doctest.h>

namespace ibpod::multus {
namespace {

// The daemon is there, or not, or comes at the third look.
struct Daemon {
  int looks_until_there = 0;
  int looks = 0;
  Reachable reachable() {
    return [this](const Path&) { return looks++ >= looks_until_there; };
  }
};

constexpr const char* kThick = R"("daemonSocketDir": "/run/multus", "delegates": [])";
constexpr const char* kThin = R"("delegates": [])";
constexpr int kNever = 1'000'000;

cni::Answer call(Cluster& cluster, Daemon& daemon, const char* verb, const char* keys = kThick,
                 Duration timeout = Duration(10'000)) {
  return cluster.call(verb, keys, [&](cni::Plugin& inner) {
    return std::make_unique<Shim>(inner, daemon.reachable(), timeout);
  });
}

struct Pod {
  Cluster cluster;
  Pod() {
    cluster.network("blue", R"({"cniVersion": "1.1.0", "type": "plugin"})");
    cluster.pod("blue");
  }
};

TEST_CASE("thin: nobody looks for a daemon") {
  Pod pod;
  Daemon daemon{kNever};
  CHECK(call(pod.cluster, daemon, "ADD", kThin).exit_code == 0);
  CHECK(call(pod.cluster, daemon, "DEL", kThin).exit_code == 0);
  CHECK(pod.cluster.calls() == "ADD net1, DEL net1, ");
  CHECK(daemon.looks == 0);
}

TEST_CASE("ADD waits for the daemon, and fails where it does not come") {
  Pod pod;
  Daemon daemon{2};
  CHECK(call(pod.cluster, daemon, "ADD").exit_code == 0);
  CHECK(daemon.looks == 3);
  CHECK(pod.cluster.calls() == "ADD net1, ");
  Daemon none{kNever};
  const cni::Answer refused = call(pod.cluster, none, "ADD", kThick, Duration(0));
  REQUIRE(refused.failure);
  CHECK(refused.failure->code == kMultusError);
  CHECK(refused.failure->message == "CmdAdd (shim): timed out waiting for the condition");
  CHECK(pod.cluster.calls() == "");
}

TEST_CASE("DEL is lost without a daemon, and never fails") {
  Pod pod;
  Daemon there, none{kNever};
  REQUIRE(call(pod.cluster, there, "ADD").exit_code == 0);
  pod.cluster.calls();
  CHECK(call(pod.cluster, none, "DEL").exit_code == 0);
  CHECK(none.looks == 1);
  CHECK(pod.cluster.calls() == "");
  pod.cluster.write("broken.DEL.net1", "");
  CHECK(call(pod.cluster, there, "DEL").exit_code == 0);
  CHECK(pod.cluster.calls() == "DEL net1, ");
}

TEST_CASE("what fails in the daemon has lost its number") {
  Pod pod;
  Daemon there;
  pod.cluster.write("broken.ADD.net1", "");
  const cni::Answer failed = call(pod.cluster, there, "ADD");
  REQUIRE(failed.failure);
  CHECK(failed.failure->code == kMultusError);
  CHECK(failed.failure->message.starts_with("CmdAdd (shim): CNI request failed with status 400: "));
  CHECK(failed.failure->message.find("later; d") != std::string::npos);
}

}  // namespace
}  // namespace ibpod::multus
