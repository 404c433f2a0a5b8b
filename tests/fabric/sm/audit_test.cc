// Every change is in the log, with its caller; secrets are nowhere.
#include "lib/json/value.h"
#include "tests/fabric/sm/secure_fixture.h"

#include <filesystem>
#include <sstream>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

// "bind n1/c1/net1: granted to CN=system:node:n1, node", in the order of the log.
std::vector<std::string> audited(const std::string& log) {
  std::vector<std::string> all;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const auto value = json::Value::parse(line);
    if (!value || !value->find("audit")) continue;
    const auto member = [&](const char* name) { return value->at(name)->string().value(); };
    all.push_back(member("audit") + " " + member("subject") + ": " + member("result") + " to " +
                  member("by") + ", " + member("role"));
  }
  return all;
}

TEST_CASE("each change that is asked for is in the log, with who asked and what came of it") {
  SecureFixture fixture(SecureFixture::with_pool());
  const Deadline deadline = SmFixture::deadline_in(Duration(120000));
  fabricapi::Client administrator = fixture.administrator(), n1 = fixture.node(1);
  const fabric::Partition blue = SmFixture::sample_partition("blue");
  const fabricapi::BindRequest request = SmFixture::request(1, "blue");
  fabricapi::BindRequest others = request;
  others.attachment.container = "c2";
  others.guid = guid_of(2);
  fixture.create_partition(blue);
  CHECK(administrator.create_partition(SmFixture::sample_partition("red"), deadline));
  CHECK_FALSE(administrator.create_partition(blue, deadline));
  CHECK(administrator.update_partition(blue, deadline));
  CHECK(administrator.delete_partition("red", deadline));
  CHECK(n1.allocate_guids({"n1", "0000:01:00.0", {0}}, deadline));
  CHECK(n1.bind(request, deadline));
  CHECK_FALSE(n1.bind(others, deadline));
  CHECK_FALSE(administrator.delete_partition("blue", deadline));
  CHECK(n1.unbind(request.attachment, deadline));
  CHECK(administrator.forget_node({"n1", true}, deadline));
  // Calls that a role does not permit are logged, too.
  CHECK_FALSE(n1.create_partition(blue, deadline));
  CHECK_FALSE(n1.update_partition(blue, deadline));
  CHECK_FALSE(n1.delete_partition("blue", deadline));
  CHECK_FALSE(n1.forget_node({"n2", false}, deadline));
  CHECK_FALSE(n1.bind(SmFixture::request(2, "blue"), deadline));
  CHECK_FALSE(n1.unbind({"n2", "c1", "net1"}, deadline));
  CHECK_FALSE(n1.allocate_guids({"n2", "0000:01:00.0", {0}}, deadline));
  CHECK_FALSE(n1.sync({"n2", {}}, deadline));
  CHECK_FALSE(n1.observe({"n2", "", {}}, deadline));
  const std::string root = "unix socket, administrator", admin = "CN=ibpod-admin, administrator",
                    node = "CN=system:node:n1, node";
  CHECK(audited(fixture.end()) == std::vector<std::string>{
                                      "create partition blue: granted to " + root,
                                      "create partition red: granted to " + admin,
                                      "create partition blue: exists to " + admin,
                                      "update partition blue: granted to " + admin,
                                      "delete partition red: granted to " + admin,
                                      "allocate GUIDs n1/0000:01:00.0: granted to " + node,
                                      "bind n1/c1/net1: granted to " + node,
                                      "bind n1/c2/net1: denied to " + node,
                                      "delete partition blue: busy to " + admin,
                                      "unbind n1/c1/net1: granted to " + node,
                                      "force forget node n1: granted to " + admin,
                                      "create partition blue: denied to " + node,
                                      "update partition blue: denied to " + node,
                                      "delete partition blue: denied to " + node,
                                      "forget node n2: denied to " + node,
                                      "bind n2/c1/net1: denied to " + node,
                                      "unbind n2/c1/net1: denied to " + node,
                                      "allocate GUIDs n2/0000:01:00.0: denied to " + node,
                                      "sync n2: denied to " + node,
                                      "observe n2: denied to " + node,
                                  });
}

// Files that only root may read, each with a number that nothing else holds.
struct Secrets {
  TempFolder folder;
  const std::vector<std::string> hex{"5ec0de0000000001", "5ec0de0000000002", "5ec0de0000000003"};

  std::string configuration() const {
    return R"("mKeyFile": ")" + folder.write("m", "0x" + hex[0]).native() + R"(", "smKeyFile": ")" +
           folder.write("sm", "0x" + hex[1]).native() + R"(", "saKeyFile": ")" +
           folder.write("sa", "0x" + hex[2]).native() + "\"";
  }
};

// No line of a private key, and none of the fabric's keys in any way of writing it.
void check_no_secret(const std::string& text, const Secrets& secrets,
                     const std::vector<std::string>& private_keys) {
  for (const std::string& key : private_keys) {
    std::istringstream lines(key);
    for (std::string line; std::getline(lines, line);) {
      REQUIRE_FALSE(line.empty());
      CHECK(text.find(line) == std::string::npos);
    }
  }
  std::string small = text;
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const std::string& hex : secrets.hex) {
    CHECK(small.find(hex) == std::string::npos);
    CHECK(small.find(std::to_string(std::stoull(hex, nullptr, 16))) == std::string::npos);
  }
}

TEST_CASE("no key is in the log, in an answer, or in a file that others can read") {
  const Secrets secrets;
  SecureFixture fixture(R"("logLevel": "debug")", secrets.configuration());
  fixture.create_partition("blue");
  std::vector<std::string> private_keys{fixture.server_key()};
  const TestCa::Issued own = fixture.of("system:node:n1");
  private_keys.push_back(own.key);
  fabricapi::Client n1 = fixture.over(fixture.channel(own));
  REQUIRE(n1.bind(SmFixture::request(1, "blue"), SmFixture::deadline_in()));
  // A certificate that cannot be used is not shown to anybody either.
  fixture.spoil_server();
  CHECK(fixture.administrator().list_nodes(SmFixture::deadline_in()));
  const auto health = fixture.reader().health(SmFixture::deadline_in());
  REQUIRE(health);
  std::string told = health->engine();
  for (const v1::FabricHealthResponse::Finding& finding : health->findings())
    told += "\n" + finding.subject() + ": " + finding.text() + " " + finding.remedy();
  check_no_secret(told, secrets, private_keys);
  using std::filesystem::perms;
  const Path conf = fixture.state_folder() / "opensm/opensm.conf";
  REQUIRE_MESSAGE(read_file(conf)->find(secrets.hex[1]) != std::string::npos, "OpenSM has it");
  for (const Path& path : {fixture.state_folder(), fixture.state_folder() / "opensm", conf})
    CHECK_MESSAGE(
        (status(path).permissions() & (perms::group_all | perms::others_all)) == perms::none, path);
  const std::string log = fixture.end();
  REQUIRE(log.find("binding is verified") != std::string::npos);
  check_no_secret(log, secrets, private_keys);
}

TEST_CASE("key files that others can read keep no running OpenSM from its ibpod-sm") {
  const Secrets secrets;
  SmFixture fixture("", false, secrets.configuration());
  fixture.create_partition("blue");
  const auto opensm = fixture.opensm();
  fixture.end();
  using std::filesystem::perms;
  for (const char* key : {"m", "sm", "sa"})
    std::filesystem::permissions(secrets.folder.path() / key, perms(0644));
  fixture.start();
  CHECK(fixture.opensm() == opensm);
  CHECK(fixture.bind(1, "blue") == "verified");
  CHECK(fixture.metric("ibpod_sm_weaknesses{kind=\"start_refused\"}") == 1);
  const std::string log = fixture.end();
  CHECK(log.find("opensm.mKeyFile: " + (secrets.folder.path() / "m").string() + " has mode 0644") !=
        std::string::npos);
  CHECK(log.find("next start of the subnet manager: m_key: ") != std::string::npos);
}

}  // namespace
}  // namespace ibpod
