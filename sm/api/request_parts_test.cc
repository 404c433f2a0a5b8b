#include "lib/fabricapi/fields.h"
#include "lib/rpc/unary.h"
#include "sm/api/test_service.h"

#include <string>

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

// One part too many, and an invalid end: a parser would report the end instead.
struct TooMany {
  std::string method, part;
  int most;
  std::string field;
  bool in_partition = false;

  std::string bytes() const {
    std::string parts;
    const int in_each = field == "ports.table" ? 256 : 1;
    for (int n = 0; n <= most / in_each; ++n) parts += part;
    if (!in_partition) return parts + "\x0f";
    std::string size;
    for (size_t left = parts.size(); left > 0; left >>= 7)
      size += static_cast<char>((left & 127) | (left > 127 ? 128 : 0));
    return "\x12" + size + parts + "\x0f";
  }
};

std::string empty_part(char tag) { return {tag, '\0'}; }

TEST_CASE("fabric API: a request with too many parts is refused before it is parsed") {
  ServiceFixture fixture;
  std::vector<TooMany> all{
      {"Bind", empty_part('\x42'), kMostMemberships, "partitions"},
      {"Sync", empty_part('\x1a'), kMostAttachments, "attachments"},
      {"Observe", empty_part('\x22'), kMostPorts, "ports"},
      {"Observe", std::string("\x22\x03\x12\x01\x00", 5), kMostPorts, "ports"},
      {"AllocateGuids", empty_part('\x20'), kMostVfs, "vfs"},
      {"Explain", empty_part('\x12'), kMostSubjects, "subjects"},
  };
  for (const char* method : {"CreatePartition", "UpdatePartition", "Plan"}) {
    all.push_back({method, empty_part('\x12'), 1, "partition"});
    all.push_back({method, empty_part('\x4a'), kMostNamespaces, "partition.allowed", true});
    all.push_back({method, empty_part('\x5a'), kMostMembers, "partition.members", true});
    const std::string nodes("\x8a\x01\x00", 3);
    all.push_back({method, nodes, kMostNodePatterns, "partition.nodes", true});
  }
  // 256 entries in one field.
  const std::string table = std::string("\x22\x83\x02\x12\x80\x02", 6) + std::string(256, '\0');
  all.push_back({"Observe", table, kMostReportedTableEntries, "ports.table"});
  for (const TooMany& one : all) {
    CAPTURE(one.method);
    CAPTURE(one.field);
    const auto answer =
        rpc::unary(fixture.socket, "/ibpod.v1.Fabric/" + one.method, one.bytes(), soon());
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code() == Code::invalid);
    CHECK_MESSAGE(
        answer.error().text().find(one.field + ": expected at most " + std::to_string(one.most) +
                                   " items, got more") != std::string::npos,
        answer.error().text());
  }
}

TEST_CASE("fabric API: an unknown caller is denied, however many parts its request has") {
  ServiceFixture fixture(
      {}, [](const rpc::Peer&) -> Result<Caller> { return Error(Code::denied, "unknown caller"); });
  const TooMany sync{"Sync", empty_part('\x1a'), kMostAttachments, "attachments"};
  const auto answer = rpc::unary(fixture.socket, "/ibpod.v1.Fabric/Sync", sync.bytes(), soon());
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code() == Code::denied);
}

TEST_CASE("fabric API: what is no request is refused as such, of every method that has parts") {
  ServiceFixture fixture;
  for (const char* method : {"CreatePartition", "UpdatePartition", "Bind", "Sync", "Observe",
                             "AllocateGuids", "Plan", "Explain"}) {
    const auto answer =
        rpc::unary(fixture.socket, "/ibpod.v1.Fabric/" + std::string(method), "\x0f", soon());
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code() == Code::invalid);
  }
}

}  // namespace
}  // namespace ibpod::sm::api
