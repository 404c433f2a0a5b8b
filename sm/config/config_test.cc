#include "sm/config/config.h"

#include "lib/base/files.h"
#include "lib/fabric/partitions_conf.h"
#include "sm/partitions/declared_partitions.h"
#include "sm/partitions/partition_registry.h"
#include "tests/support/fake_store.h"

#include <regex>
#include <string>

#include <doctest/doctest.h>

namespace ibpod::sm::config {
namespace {

const std::string kEvery = R"({
    "fabric": "rail-1", "stateDir": "/srv/sm", "socket": "/run/sm.sock",
    "listen": {"address": "0.0.0.0:7473", "certificate": "/c", "key": "/k", "ca": "/a"},
    "metricsAddress": "127.0.0.1:1", "logLevel": "debug", "bindSeconds": 20,
    "roles": [{"match": "CN=system:node:*", "role": "node"}, {"match": "CN=ops", "role": "administrator"}],
    "clusters": [{"name": "prod", "issuer": "https://i", "keys": "/j", "serviceAccounts": ["a/b"],
        "audience": "ibpod-sm.east"}],
    "engine": "opensm",
    "opensm": {"program": "/opt/opensm", "folder": "/srv/opensm", "port": "0x0002c90300a1b2c3",
      "priority": 9, "maxWireSmps": 64, "sweepSeconds": 0, "pollingMs": 500, "pollingRetries": 1,
      "mKeyProtection": 2, "logMegabytes": 8, "qos": true, "allowBothPkeys": false, "mKeyFile": "/m", "smKeyFile": "/s",
      "saKeyFile": "/t", "moreOptionsFile": "/o", "pidFile": "/p", "logFile": "/l"},
    "look": {"device": "mlx5_0", "port": 1, "window": 32, "scanSeconds": 30},
    "pkeys": [{"first": "0x0001", "last": "0x00ff"},
              {"first": "0x1000", "last": "0x1fff", "use": "explicit"}],
    "guids": [{"first": "0x0200000000000001", "last": "0x02000000000000ff"},
              {"first": "0x0200000000000100", "last": "0x02000000000001ff", "chosenBy": ["team-a"]}],
    "defaults": {"ipoib": true, "mtu": 4096, "rate": 100, "sl": 1},
    "defaultPartition": {"others": "full", "ipoib": false},
    "nodes": {"n1": {"pfs": ["0x0002c90300a1b2c4"], "guids": ["0x0002c90300a1b2c5"]}},
    "pfsByFirstClaim": true, "leaseSeconds": 60, "leaseEnd": "revoke",
    "limits": {"membershipsOfNode": 500, "unseenPortsOfNode": 50},
    "declaredPartitions": "/etc/partitions.json"})";

TEST_CASE("an empty object is a configuration") {
  const Result<Config> config = read_config("{}");
  REQUIRE(config);
  CHECK(config->fabric == "default");
  CHECK(config->engine == EngineKind::opensm);
  CHECK(config->opensm.folder == "/var/lib/ibpod-sm/opensm");
  CHECK(config->policy.default_rule == fabric::default_definition());
  CHECK_FALSE(config->listening);
}

TEST_CASE("every key comes to its place") {
  const Result<Config> config = read_config(kEvery);
  REQUIRE_MESSAGE(config, config.error().text());
  CHECK(config->listening->tls.ca == "/a");
  CHECK(config->listening->address.port == 7473);
  CHECK(config->authority.identify({.common_name = "system:node:n1", .names = {}})->node == "n1");
  CHECK(config->clusters ==
        std::vector<api::Cluster>{{"prod", "https://i", "/j", {"a/b"}, "ibpod-sm.east"}});
  CHECK(config->policy.clusters == fabric::ClusterNames{"prod", {}});
  const opensm::OpenSmSettings& opensm = config->opensm.launcher.opensm;
  CHECK(opensm.port == ib::Guid(0x0002c90300a1b2c3));
  CHECK(opensm.priority == 9);
  CHECK(opensm.max_wire_smps == 64);
  CHECK(opensm.m_key_protection == 2);
  CHECK_FALSE(opensm.allow_both_pkeys);
  CHECK_FALSE(config->policy.unsupported.both.empty());
  CHECK(opensm.keys.sa_key == "/t");
  CHECK(config->opensm.launcher.external->pid_file == "/p");
  CHECK(config->port.device == "mlx5_0");
  CHECK(config->window == 32);
  CHECK(config->scan == Duration(30'000));
  CHECK(config->policy.pkeys.allows(ib::PKey(0x1000)));
  CHECK_FALSE(config->policy.pkeys.allows(ib::PKey(0x0001)));
  CHECK(config->policy.guids.contains(ib::Guid(0x0200000000000010)));
  CHECK(config->policy.guids.allows_request(ib::Guid(0x0200000000000100), "team-a"));
  CHECK(config->policy.group.mtu == fabric::Mtu::mtu_4096);
  CHECK(config->policy.ipoib);
  CHECK(config->policy.nodes.at("n1").pfs.contains(ib::Guid(0x0002c90300a1b2c4)));
  CHECK(config->policy.at_lease_end == state::LeasePolicy::revoke);
  CHECK(config->policy.lease == Duration(60'000));
  CHECK(config->declared == "/etc/partitions.json");
  CHECK(config->call_timeout == Duration(20'000));
  CHECK(config->policy.limits.memberships_of_node == 500);
  CHECK(config->policy.limits.unseen_of_node == 50);
}

TEST_CASE("every key is in the document, whose example is a configuration") {
  const std::string document = read_file("docs/ibpod-sm.md").value();
  const std::regex key("\"(\\w+)\":");
  for (std::sregex_iterator at(kEvery.begin(), kEvery.end(), key), end; at != end; ++at) {
    const std::string name = at->str(1);
    if (name == "n1") continue;
    CAPTURE(name);
    CHECK((document.find("`" + name + "`") != document.npos ||
           document.find("\"" + name + "\":") != document.npos));
  }
  const size_t begin = document.find("```json\n") + 8;
  const Result<Config> example =
      read_config(document.substr(begin, document.find("```", begin) - begin));
  CHECK_MESSAGE(example, (example ? "" : example.error().text()));
}

TEST_CASE("the document's file of partitions is one, and every key of it has its row") {
  const std::string document = read_file("docs/ibpod-sm.md").value();
  const size_t section = document.find("\n### Declared partitions\n");
  REQUIRE(section != document.npos);
  const size_t begin = document.find("```json\n", section) + 8;
  const std::string example = document.substr(begin, document.find("```", begin) - begin);
  const Result<partitions::DeclaredPartitions> declared = partitions::read_declared(example);
  REQUIRE(declared);
  CHECK(declared->errors.empty());
  CHECK(declared->partitions.size() == 2);
  const std::string rows = document.substr(section, document.find("\n### ", begin) - section);
  const std::regex key("\"(\\w+)\":");
  for (std::sregex_iterator at(example.begin(), example.end(), key), end; at != end; ++at) {
    CAPTURE(at->str(1));
    CHECK((at->str(1) == "partitions" || rows.find("`" + at->str(1) + "`") != rows.npos));
  }
}

// In the order of the page's instructions.
TEST_CASE("the document's file of partitions is taken under its smallest configuration") {
  const std::string document = read_file("docs/ibpod-sm.md").value();
  const auto block_behind = [&](const char* heading) {
    const size_t begin = document.find("```json\n", document.find(heading)) + 8;
    return document.substr(begin, document.find("```", begin) - begin);
  };
  const Result<Config> smallest = read_config(block_behind("\n## Installing it\n"));
  const Result<partitions::DeclaredPartitions> declared =
      partitions::read_declared(block_behind("\n### Declared partitions\n"));
  REQUIRE(smallest);
  REQUIRE(declared);
  FakeStore store;
  const auto journal = state::Journal::load(store, smallest->policy, {}).value();
  partitions::PartitionRegistry registry(*journal);
  const auto refused = registry.declarations().declare(declared->partitions, {});
  REQUIRE(refused);
  for (const partitions::DeclarationError& one : *refused)
    FAIL_CHECK(one.name << ": " << one.error.text());
  CHECK(registry.view().find("blue"));
}

TEST_CASE("the document's section of partitions.conf is one that is kept") {
  const std::string document = read_file("docs/ibpod-sm.md").value();
  const size_t begin = document.find("```text\n# The administrator's section") + 8;
  REQUIRE(begin != document.npos + 8);
  const std::string block = document.substr(begin, document.find("```", begin) - begin);
  const auto section = fabric::manual_section(block);
  REQUIRE(section);
  const auto definitions = fabric::read_partitions(*section, {.allow_both_pkeys = true});
  REQUIRE_MESSAGE(definitions, definitions.error().text());
  CHECK(definitions->size() == 1);
  CHECK(document.find("partitions.conf.refused") != document.npos);
}

// GUIDs as the SR-IOV operator draws them: about every second one is a group address.
TEST_CASE("a node's VFs have whatever GUIDs they were given, and a pool gives out none like that") {
  const auto config = read_config(
      R"({"nodes": {"n1": {"guids": ["59:ca:bb:00:97:92:74:5f"]}},
          "guids": [{"first": "0x5900000000000000", "last": "0x59ffffffffffffff",
                     "chosenBy": ["team-a"]}]})");
  REQUIRE_MESSAGE(config, config.error().text());
  CHECK(config->policy.nodes.at("n1").guids.contains(ib::Guid(0x59cabb009792745f)));
  const auto gives =
      read_config(R"({"guids": [{"first": "0x5900000000000000", "last": "0x59ffffffffffffff"}]})");
  REQUIRE_FALSE(gives);
  CHECK(gives.error().text().find("the lowest bit of its first byte must be 0") !=
        std::string::npos);
}

TEST_CASE("all that is wrong is told, with its place") {
  const Result<Config> config = read_config(R"({
    "fabrik": "x", "logLevel": "loud", "engine": "ufo", "stateDir": "sm",
    "listen": {"address": "sm.example:1"},
    "opensm": {"priority": 16, "pidFile": "/p"},
    "look": {"window": 0},
    "pkeys": [{"first": "0x8001", "last": "0x00ff"}],
    "guids": [{"first": "0x0000000000000000", "last": "0x02000000000000ff"}],
    "roles": [{"match": "CN=x", "role": "root"}],
    "defaultPartition": {"others": "both"}, "leaseSeconds": 1})");
  REQUIRE_FALSE(config);
  CHECK(config.error().code() == Code::invalid);
  for (const char* expected :
       {"fabrik", "logLevel: expected debug", "engine: expected opensm, ufm or observe", "stateDir",
        "listen.address", "listen: certificate", "opensm.priority", "pidFile and logFile",
        "look.window", "pkeys[0].first: 0x8001", "guids", "roles[0].role", "others",
        "leaseSeconds"})
    CHECK_MESSAGE(config.error().text().find(expected) != std::string::npos, expected,
                  config.error().text());
}

// Two letters are exchanged in each key of the file above, and of its sections.
TEST_CASE("of a key that is a slip of one, the one is told, and is right") {
  const std::regex key(R"--("([a-z]\w{3,})":)--");
  size_t slips = 0;
  for (std::sregex_iterator at(kEvery.begin(), kEvery.end(), key), end; at != end; ++at) {
    const std::string right = (*at)[1];
    std::string wrong = right;
    std::swap(wrong[1], wrong[2]);
    if (wrong == right) continue;
    std::string text = kEvery;
    text.replace(static_cast<size_t>(at->position(1)), right.size(), wrong);
    const auto refused = read_config(text);
    CAPTURE(wrong);
    REQUIRE_FALSE(refused);
    const std::string message = refused.error().text(),
                      mark = "unknown key \"" + wrong + "\"; did you mean \"";
    const size_t found = message.find(mark);
    const bool missing = message.find("the key \"" + right + "\" is missing") != message.npos;
    CHECK_MESSAGE((found != message.npos || missing), message);
    if (found == message.npos) continue;
    const size_t begin = found + mark.size();
    const std::string meant = message.substr(begin, message.find('"', begin) - begin);
    text.replace(static_cast<size_t>(at->position(1)), wrong.size(), meant);
    CHECK(read_config(text));
    ++slips;
  }
  CHECK(slips > 40);
  CHECK(read_config(R"({"listn": {}})").error().text().find("did you mean \"listen\"?") !=
        std::string::npos);
}

TEST_CASE("what only the whole tells is told before anything is started") {
  const std::string tls = R"("certificate": "/c", "key": "/k", "ca": "/a")";
  const struct {
    std::string text, told;
  } table[] = {
      {R"({"opensm": {"mKeyProtection": 2}})",
       "opensm.mKeyProtection: 2 has no effect without opensm.mKeyFile"},
      {R"({"listen": {)" + tls + "}}",
       "listen.address: expected an IP address and a port, such as "
       "0.0.0.0:7473, got nothing"},
      {R"({"listen": {"address": "10.0.0.1:0", )" + tls + "}}", "got \"10.0.0.1:0\""},
      {R"({"listen": {"address": "unix:/sm.sock", )" + tls + "}}", "got \"unix:/sm.sock\""},
      {R"({"listen": {"address": "sm.example.com:7473", )" + tls + "}}",
       "got \"sm.example.com:7473\""},
      {R"({"listen": {"address": "0.0.0.0", )" + tls + "}}", "got \"0.0.0.0\""},
      {R"({"stateDir": "/srv/my sm"})",
       "opensm.folder, or stateDir above it: \"/srv/my sm/opensm\": OpenSM needs"},
      {R"({"opensm": {"folder": "/srv/#1"}})",
       "OpenSM needs an absolute path without blanks and #"},
      {R"({"defaults": {"sl": 1}})", "defaults.sl: 1 needs opensm.qos"},
      {R"({"fabric": ""})", "fabric: expected at most 63 lowercase letters"},
      {R"({"fabric": "Rail_1"})", "got \"Rail_1\""},
  };
  for (const auto& [text, expected] : table) {
    CAPTURE(text);
    const Result<Config> config = read_config(text);
    REQUIRE_FALSE(config);
    CHECK_MESSAGE(config.error().text().find(expected) != std::string::npos, config.error().text());
    CHECK(config.error().text().find("; listen.") == std::string::npos);  // it is reported once
  }
  // A space does no harm if ibpod-sm does not run OpenSM.
  CHECK(read_config(R"({"stateDir": "/srv/my sm", "engine": "observe"})"));
}

TEST_CASE("names of the file are of clusters in the file, and of hosts with certificates") {
  const auto text = [](const std::string& more) {
    return R"({"listen": {"address": "0.0.0.0:7473", "certificate": "/c", "key": "/k", "ca": "/a"},
      "clusters": [{"name": "prod", "issuer": "i", "keys": "/p", "default": true},
                   {"name": "dev", "issuer": "i", "keys": "/d", "default": false,
                    "audience": "ibpod-sm.dev"}])" +
           more + "}";
  };
  const auto config = read_config(text(R"(,
    "nodes": {"n1": {"pfs": ["0x0002c90300a1b2c4"]}, "dev/n1": {"pfs": ["0x0002c90300a1b2c5"]}},
    "guids": [{"first": "0x0200000000000100", "last": "0x02000000000001ff",
               "chosenBy": ["team-a", "dev/team-a", "*/shared"]}])"));
  REQUIRE_MESSAGE(config, config.error().text());
  CHECK(config->clusters.size() == 2);
  CHECK(config->policy.clusters == fabric::ClusterNames{"prod", {"dev"}});
  CHECK(config->policy.nodes.at("dev/n1").pfs.size() == 1);
  const auto error = [&](const std::string& more) {
    const auto refused = read_config(text(more));
    REQUIRE_FALSE(refused);
    return refused.error().text();
  };
  const std::string range = R"("first": "0x0200000000000100", "last": "0x02000000000001ff")";
  CHECK(error(R"(, "nodes": {"stage/n1": {}})") ==
        R"(nodes: expected dev before the '/', or a name of the default cluster, got "stage/n1": )"
        R"("clusters" of ibpod-sm's configuration has no other cluster)");
  CHECK(
      error(R"(, "pfsByFirstClaim": true)") ==
      "pfsByFirstClaim: expected false with the cluster dev, whose nodes could claim PFs of other "
      R"(nodes, got true: list the PFs of each node in "nodes")");
  CHECK(error(R"(, "nodes": {"dev/*": {}})") ==
        R"(nodes: expected CLUSTER/NAME or the name of a node, got "dev/*")");
  CHECK(error(R"(, "guids": [{)" + range + R"(, "chosenBy": ["x", "prod/team-a"]}])") ==
        R"(guids[0].chosenBy: expected "team-a", got "prod/team-a": prod is the default cluster, )"
        "whose names have no cluster in front");
}

TEST_CASE("a service level is a partition's to have where the subnet manager heeds it") {
  const auto allowed = [](const char* text) {
    return read_config(text)->policy.unsupported.sl.empty();
  };
  CHECK_FALSE(allowed("{}"));
  CHECK_FALSE(allowed(R"({"opensm": {"qos": false}})"));
  CHECK(allowed(R"({"opensm": {"qos": true}})"));
  CHECK(allowed(R"({"engine": "observe"})"));
}

TEST_CASE("what is no object is refused") {
  for (const char* text : {"", "[]", "{", "3"}) CHECK_FALSE(read_config(text));
}

}  // namespace
}  // namespace ibpod::sm::config
