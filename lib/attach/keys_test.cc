#include "lib/attach/keys.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

using PartitionRequests = std::vector<node::PartitionRequest>;

Result<PartitionRequests> read(const std::string& keys) {
  const json::Value document = json::Value::parse("{" + keys + "}").value();
  Keys network(document, cni::Verb::add);
  Settings settings;
  network.read(settings);
  return read_partitions(network);
}

TEST_CASE("a network names its partitions in one of several ways") {
  const std::pair<std::string, PartitionRequests> cases[] = {
      {"", {}},
      {R"("partition":"")", {}},
      {R"("partition":"blue")", {{"blue"}}},
      {R"("partitions":["blue",{"name":"red","membership":"full"},{"name":"green"}])",
       {{"blue"}, {"red", "full"}, {"green"}}},
      {R"("partition":"blue","partitions":["blue"])", {{"blue"}}},
      {R"("args":{"cni":{"partition":"blue"}})", {{"blue"}}},
      {R"("partition":"blue","args":{"cni":{"partition":"blue"}})", {{"blue"}}},
      {R"("partition":"Team_a.2")", {{"Team_a.2"}}},
      {R"("pkey":"0x8001")", {}},
  };
  for (const auto& [keys, wanted] : cases) {
    CAPTURE(keys);
    const auto requests = read(keys);
    REQUIRE_MESSAGE(requests.ok(), requests.error().text());
    CHECK(*requests == wanted);
  }
}

TEST_CASE("what is no partition, or leaves open which one is meant, is refused and named") {
  const std::pair<std::string, std::string> cases[] = {
      {R"("partition":7)", "partition"},
      {R"("partition":"bl ue")", "partition: invalid partition name \"bl ue\""},
      {R"("partition":"0123456789012345678901234567890x")", "expected up to 31 letters"},
      {R"("partitions":"blue")", "partitions"},
      {R"("partitions":[7])", "partitions"},
      {R"("partitions":["b/ue"])", "partitions: "},
      {R"("partitions":[{"membership":"full"}])", "partitions: invalid partition name \"\""},
      {R"("partitions":[{"name":"blue","membership":"most"}])", "expected limited, full or both"},
      {R"("partitions":[{"name":"blue","member":"full"}])", "member: unknown key"},
      {R"("partitions":["blue",{"name":"blue","membership":"full"}])", "\"blue\" is listed twice"},
      {R"("partition":"red","partitions":["blue"])", "partitions: partition has another partition"},
      {R"("partition":"red","args":{"cni":{"partition":"blue"}})",
       "args.cni.partition: the network"},
      {R"("args":{"cni":{"partition":"b=e"}})",
       "args.cni.partition: invalid partition name \"b=e\""},
      {R"("partition":"blue","pkey":"0x8001")", "pkey: 0x8001 and partition \"blue\""},
  };
  for (const auto& [keys, why] : cases) {
    CAPTURE(keys);
    const auto requests = read(keys);
    REQUIRE_FALSE(requests);
    CAPTURE(requests.error().text());
    CHECK(requests.error().code() == Code::invalid);
    CHECK(requests.error().text().find(why) != std::string::npos);
  }
  std::string many = R"("partitions":["p0")";
  for (size_t n = 1; n <= kMostPartitions; ++n) many += ",\"p" + std::to_string(n) + "\"";
  CHECK(read(many + "]").error().text().find("expected up to 32, got 33") != std::string::npos);
}

// The settings of a network with these keys, on a node with the default ones.
ParsedConfig<Settings> settings_of(const std::string& keys, cni::Verb verb = cni::Verb::add,
                                   bool allow_in_networks = false) {
  const json::Value document = json::Value::parse("{" + keys + "}").value();
  Settings settings;
  settings.allow_in_networks = allow_in_networks;
  settings.state_folder = "/state";
  Keys network(document, verb);
  network.read(settings);
  return std::move(network).finish(std::move(settings));
}

TEST_CASE("timeoutSeconds is 1 to 110, and 30 by default") {
  CHECK(settings_of("").config.timeout == std::chrono::seconds(30));
  for (const int seconds : {1, 110}) {
    const auto read = settings_of(R"("timeoutSeconds":)" + std::to_string(seconds));
    CHECK_FALSE(read.error);
    CHECK(read.config.timeout == std::chrono::seconds(seconds));
  }
  for (const int seconds : {0, 111}) {
    const auto read = settings_of(R"("timeoutSeconds":)" + std::to_string(seconds));
    REQUIRE(read.error);
    CHECK(read.error->text().find("timeoutSeconds: expected a whole number from 1 to 110") == 0);
    CHECK(read.config.timeout == std::chrono::seconds(30));
  }
}

TEST_CASE("a network sets the files and sockets of a node only if the node allows it") {
  const std::string other = R"("stateDir":"/other")";
  const auto refused = settings_of(other);
  REQUIRE(refused.error);
  CHECK(refused.error->text().find("stateDir: a network cannot set it on this node") == 0);
  CHECK(refused.config.state_folder == "/state");
  CHECK(refused.config.refused_state_folder == "/other");
  const auto allowed = settings_of(other, cni::Verb::add, true);
  CHECK_FALSE(allowed.error);
  CHECK(allowed.config.state_folder == "/other");
  CHECK(allowed.config.refused_state_folder.empty());
  const auto same = settings_of(R"("stateDir":"/state","logLevel":"info")");
  CHECK_MESSAGE(!same.error, "the node's own values are no change");
  CHECK(same.config.refused_state_folder.empty());
  CHECK(settings_of(R"("logLevel":"debug")").error);
  CHECK(settings_of(R"("logLevel":"debug")").config.log_level == log::Level::info);
  CHECK_MESSAGE(settings_of(other, cni::Verb::del).warnings.size() == 1,
                "DEL goes on, and says that it behaves differently");
}

}  // namespace
}  // namespace ibpod::attach
