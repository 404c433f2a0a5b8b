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

}  // namespace
}  // namespace ibpod::attach
