#include "sm/controller/test_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::sm::controller::test {
namespace {

// With the partition blue, swept.
struct Audited : Fixture {
  Audited() {
    partition("blue");
    settle();
    read = read_file(folder.path() / "log").value().size();
  }
  // The audit lines since the last call: "bind n1/c1/net1 by admin: granted".
  std::vector<std::string> audits() {
    const std::string all = read_file(folder.path() / "log").value();
    std::vector<std::string> lines;
    for (size_t end = 0; (end = all.find('\n', read)) != all.npos; read = end + 1) {
      const json::Value line = json::Value::parse(all.substr(read, end - read)).value();
      const auto word = [&](const char* key) { return line.at(key).value().string().value(); };
      if (!line.find("audit")) continue;
      lines.push_back(word("audit") + " " + word("subject") + " by " + word("by") + ": " +
                      word("result"));
    }
    return lines;
  }
  bool counted(const std::string& action, const std::string& result) {
    return telemetry.metrics().text().find("ibpod_sm_requests_total{action=\"" + action +
                                           "\",result=\"" + result + "\"}") != std::string::npos;
  }
  void declare(std::vector<fabric::Partition> partitions) {
    partitions::DeclaredPartitions declared;
    declared.partitions = std::move(partitions);
    controller->declare(declared);
    tick();
  }

  using Lines = std::vector<std::string>;
  size_t read = 0;
};

fabric::Partition red() {
  fabric::Partition partition;
  partition.name = "red";
  partition.pkey = ib::PKey(0x1000);
  return partition;
}

TEST_CASE_FIXTURE(Audited, "a grant is in the log when it is on disk, a refusal with its reason") {
  bind(kNode1, request(kVf1, "blue"));
  bind(kNode1, request(kVf3, "blue", "c2"));
  CHECK(audits() == Lines{"bind n1/c1/net1 by system:node:n1: granted",
                          "bind n1/c2/net1 by system:node:n1: denied"});
  CHECK(counted("bind", "granted"));
  CHECK(counted("bind", "denied"));
}

TEST_CASE_FIXTURE(Audited, "what could not be put on disk was not granted") {
  for (const auto failure : {FakeStore::Failure::full, FakeStore::Failure::lost}) {
    store.fail_at(0, failure);
    bind(kNode1, request(kVf1, "blue"));
    store.fail_at(0, failure);
    create(red());
  }
  const Lines lines = audits();
  CHECK(lines.size() == 4);
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK((line.ends_with(": unavailable") || line.ends_with(": internal")));
  }
  CHECK_FALSE(counted("bind", "granted"));
}

TEST_CASE_FIXTURE(Audited, "what the declared file changes is in the log, as the file's") {
  declare({red()});
  CHECK(audits() == Lines{"create partition red by declared file: granted"});
  declare({red()});
  CHECK(audits().empty());
  fabric::Partition changed = red();
  changed.allowed = {"team-a"};
  declare({changed});
  CHECK(audits() == Lines{"update partition red by declared file: granted"});
  declare({});
  CHECK(audits() == Lines{"delete partition red by declared file: granted"});
  declare({});
  CHECK(audits().empty());
  fabric::Partition green = red();
  green.name = "green";
  green.pkey = ib::PKey(0x1001);
  store.fail_at(0, FakeStore::Failure::full);
  declare({green});
  CHECK(audits() == Lines{"create partition green by declared file: unavailable"});
}

TEST_CASE_FIXTURE(Audited, "what a lease's end releases is in the log, as the lease's") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  CHECK(audits().size() == 1);
  controller->calls().sync(kNode1, {"n1", {}}, [](const auto&) {});
  tick();
  CHECK(audits().empty());
  tick(600'001);
  CHECK(audits() == Lines{"unbind n1/c1/net1 by lease: granted"});
  tick();
  CHECK(audits().empty());
}

}  // namespace
}  // namespace ibpod::sm::controller::test
