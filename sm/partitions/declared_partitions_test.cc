#include "sm/partitions/declared_partitions.h"

#include <doctest/doctest.h>

namespace ibpod::sm::partitions {
namespace {

TEST_CASE("every key of a declared partition is read") {
  const Result<DeclaredPartitions> declared = read_declared(R"({
    // storage for all
    "partitions": [
      {"name": "blue", "pkey": "0x0101", "membership": "full", "index0": true, "ipoib": true,
       "mtu": 4096, "rate": "2.5", "sl": 2, "allowed": ["team-blue", "*"],
       "nodes": ["gpu-*", "n1"], "proof": "port",
       "members": [{"guid": "0x0002c90300a1b2c3", "membership": "both", "comment": "nfs-1"},
                   {"guid": "00:02:c9:03:00:a1:b2:c4"}]},
      {"name": "red", "ipoib": false}]})");
  REQUIRE(declared);
  CHECK(declared->errors.empty());
  REQUIRE(declared->partitions.size() == 2);
  fabric::Partition blue;
  blue.name = "blue";
  blue.pkey = ib::PKey(0x0101);
  blue.membership = fabric::Membership::full;
  blue.index0 = true;
  blue.ipoib = true;
  blue.mtu = fabric::Mtu::mtu_4096;
  blue.rate = fabric::Rate{2};
  blue.sl = 2;
  blue.allowed = {"team-blue", "*"};
  blue.nodes = {"gpu-*", "n1"};
  blue.proof = fabric::Proof::port;
  blue.members = {{ib::Guid(0x0002c90300a1b2c3), fabric::Membership::both, "nfs-1"},
                  {ib::Guid(0x0002c90300a1b2c4), fabric::Membership::limited, ""}};
  CHECK(declared->partitions[0] == blue);
  CHECK(declared->partitions[1].name == "red");
  CHECK(declared->partitions[1].allowed.empty());
  CHECK(declared->partitions[1].nodes.empty());
  CHECK(declared->partitions[1].ipoib == false);
}

// By the jq program of docs/from-ib-kubernetes.md; with and without "ip_over_ib" in UFM's answer.
TEST_CASE("a partition that is made from UFM's answer is read") {
  for (const std::string ipoib : {"true", "null"}) {
    const Result<DeclaredPartitions> declared =
        read_declared(R"({"partitions": [{"name": "blue", "allowed": ["team-b"], "pkey": "0x5",
          "membership": "full", "index0": true, "ipoib": )" +
                      ipoib + R"(, "members": [{"guid": "0x02000000000000ab", "membership": "full",
          "comment": "ib-kubernetes"}]}]})");
    REQUIRE(declared);
    CHECK(declared->errors.empty());
    REQUIRE(declared->partitions.size() == 1);
    const fabric::Partition& blue = declared->partitions[0];
    CHECK(blue.pkey == ib::PKey(5));
    CHECK(blue.ipoib.has_value() == (ipoib == "true"));
    CHECK(blue.members ==
          std::vector<fabric::StaticMember>{
              {ib::Guid(0x02000000000000ab), fabric::Membership::full, "ib-kubernetes"}});
  }
}

TEST_CASE("an entry that is wrong is told with its path and left out, the others are taken") {
  struct Case {
    std::string_view entry;
    std::string_view told;
  };
  const Case cases[] = {
      {R"({"name": "x", "pkey": "1000"})", "partitions[0].pkey"},
      {R"({"name": "x", "pkey": "0x7fff"})", "0x7fff"},
      {R"({"name": "x", "pkey": "0x8001"})", "0x8001"},
      {R"({"name": "x", "membership": "ful"})", "partitions[0].membership"},
      {R"({"name": "x", "mtu": 4})", "partitions[0].mtu"},
      {R"({"name": "x", "mtu": 128})", "expected 256"},
      {R"({"name": "x", "mtu": 8192})", "expected 256"},
      {R"({"name": "x", "rate": 3})", "partitions[0].rate"},
      {R"({"name": "x", "sl": 16})", "partitions[0].sl"},
      {R"({"name": "x", "nodes": ["*-*"]})", "partitions[0].nodes: "},
      {R"({"name": "x", "allowed": ["a/B"]})", "partitions[0].allowed: "},
      {R"({"name": "x", "proof": "neither"})", "partitions[0].proof"},
      {R"({"name": "x", "index0": "yes"})", "partitions[0].index0"},
      {R"({"name": "x", "allowed": "a"})", "partitions[0].allowed"},
      {R"({"name": "x", "allowed": ["a/b/c"]})", "allowed"},
      {R"({"name": "x", "nodes": "a"})", "partitions[0].nodes"},
      {R"({"name": "x", "nodes": ["n1", "*-*"]})", "'*-*' is not a node name"},
      {R"({"name": "x", "members": [{}]})", "partitions[0].members[0]"},
      {R"({"name": "x", "members": [{"guid": "0x1"}]})", "partitions[0].members[0].guid"},
      {R"({"name": "x", "members": [{"guid": "0x0002c90300a1b2c3", "key": 1}]})", "\"key\""},
      {R"({"name": "x", "defaultMembership": "full"})", "defaultMembership"},
      {R"({"name": "b"}, {"name": "b"})", "twice"},
      {R"({"pkey": "0x0001"})", "name"},
      {R"("x")", "partitions[0]"},
  };
  for (const Case& test : cases) {
    CAPTURE(test.entry);
    const auto declared =
        read_declared("{\"partitions\": [" + std::string(test.entry) + ", {\"name\": \"good\"}]}");
    REQUIRE(declared);
    REQUIRE(declared->errors.size() == 1);
    CHECK_MESSAGE(declared->errors[0].find(test.told) != std::string::npos, declared->errors[0]);
    CHECK(declared->partitions.back().name == "good");
  }
}

TEST_CASE("what stands under the name of a wrong entry is known to be meant") {
  const auto declared = read_declared(R"({"partitions": [{"name": "x", "sl": 99}]})");
  REQUIRE(declared);
  CHECK(declared->unread == std::vector<std::string>{"x"});
  CHECK(declared->unread_errors == declared->errors);
}

TEST_CASE("of each entry it is known where it is in the file, whatever is left out before it") {
  const auto declared = read_declared(
      R"({"partitions": [{"name": "red"}, {"name": "x", "sl": 99}, {"name": "blue"}]})");
  REQUIRE(declared);
  CHECK(declared->places ==
        std::map<std::string, std::string>{{"red", "partitions[0]"}, {"blue", "partitions[2]"}});
}

TEST_CASE("an entry that may mean any partition is told to keep all of them") {
  for (const char* entry : {R"({"nmae": "x"})", R"({"name": 5})", R"({"name": "a b"})", R"("x")",
                            R"([])", R"({"name": ""})", R"({"name": "good"})"}) {
    CAPTURE(entry);
    const auto declared =
        read_declared(R"({"partitions": [{"name": "good"}, )" + std::string(entry) + "]}");
    REQUIRE(declared);
    CHECK_FALSE(declared->complete);
    REQUIRE(declared->errors.size() == 1);
    CHECK(declared->errors[0].find("no partition is removed") != std::string::npos);
    CHECK(declared->partitions.size() == 1);
  }
  CHECK(read_declared(R"({"partitions": [{"name": "x", "sl": 99}]})")->complete);
}

TEST_CASE("a file of which nothing can be made is refused as a whole") {
  for (const char* text : {"", "{", "[]", "{}", R"({"partitions": {}})",
                           R"({"partitions": [], "more": 1})", R"({"partition": []})"}) {
    CAPTURE(text);
    const auto declared = read_declared(text);
    REQUIRE_FALSE(declared);
    CHECK(declared.error().code() == Code::invalid);
  }
  CHECK(read_declared(R"({"partitions": []})"));
}

}  // namespace
}  // namespace ibpod::sm::partitions
