#include "ctl/session.h"
#include "ctl/test_service.h"
#include "lib/base/files.h"
#include "tests/support/temp_folder.h"

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include <doctest/doctest.h>

namespace ibpod::ctl {
namespace {

using fabric::Membership;

// A cluster with partitions and bindings, and command lines that are typed one after the other.
struct Cluster {
  Cluster() {
    for (const std::string name : {"blue", "green", "red"}) {
      fabric::PartitionStatus& status = state.partitions[name];
      status.spec.name = name;
      status.state = fabric::PartitionState::ready;
    }
    for (const std::string node : {"n1", "n1", "n2"}) {
      fabric::Binding binding;
      binding.attachment = {node, "c" + std::to_string(state.bindings.size()), "net1"};
      binding.pod = {"team-a", "web-" + std::to_string(state.bindings.size()), "u"};
      state.bindings.push_back(binding);
    }
    v1::FabricNode& node = *state.nodes.add_nodes();
    node.set_name("n1");
    node.set_bindings(2);
  }

  Outcome type(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    Session session;
    if (!sys.empty()) session.paths.sys = sys;
    session.connect = [this](const SmAddress& address) -> Result<std::unique_ptr<Service>> {
      connected = address;
      return std::unique_ptr<Service>(new test::StateService(state));
    };
    return run(words, session);
  }
  // It has to succeed.
  std::string out(const std::string& line) {
    const Outcome outcome = type(line);
    CAPTURE(outcome.err);
    CHECK(outcome.exit == 0);
    return outcome.out;
  }
  const fabric::Partition& blue() { return state.partitions.at("blue").spec; }

  test::State state;
  SmAddress connected;
  Path sys;  // empty: this machine's
};

TEST_CASE("all pages of a list are shown, as a table or as JSON") {
  Cluster cluster;
  const std::string table = cluster.out("partition list");
  for (const char* name : {"blue", "green", "red"}) CHECK(table.find(name) != std::string::npos);
  const Result<json::Value> list = json::Value::parse(cluster.out("partition list --json"));
  REQUIRE(list);
  CHECK(list->elements().value().size() == 3);
  const Result<json::Value> bindings = json::Value::parse(cluster.out("binding list --json"));
  REQUIRE(bindings);
  CHECK(bindings->elements().value().size() == 3);
}

TEST_CASE("a list that does not end is not read for ever") {
  Cluster cluster;
  cluster.state.endless = true;
  const Outcome outcome = cluster.type("partition list");
  CHECK(outcome.exit == kFailed);
  CHECK(outcome.err.find("returned the same page of a list twice") != std::string::npos);
}

TEST_CASE("a partition is created, changed, given members, and deleted") {
  Cluster cluster;
  const std::string made = cluster.out(
      "partition create white --pkey 0x0101 --membership full --index0 --mtu 4096 --allow a "
      "--allow b --node gpu-* --node n1");
  CHECK(made.find("white  0x0101  full") != std::string::npos);
  const fabric::Partition& white = cluster.state.partitions.at("white").spec;
  CHECK(white.index0);
  CHECK(white.allowed == std::vector<std::string>{"a", "b"});
  CHECK(white.nodes == std::vector<std::string>{"gpu-*", "n1"});
  cluster.out("partition update white --no-index0 --disallow a --remove-node n1 --sl 3");
  CHECK_FALSE(white.index0);
  CHECK(white.allowed == std::vector<std::string>{"b"});
  CHECK(white.nodes == std::vector<std::string>{"gpu-*"});
  const Outcome last = cluster.type("partition update white --remove-node gpu-*");
  CHECK(last.exit != 0);
  CHECK_MESSAGE(last.err.find("--node '*/*'") != std::string::npos, last.err);
  CHECK(white.nodes == std::vector<std::string>{"gpu-*"});
  cluster.out("partition update white --remove-node gpu-* --node */*");
  CHECK(white.nodes == std::vector<std::string>{"*/*"});
  CHECK(fabric::matches_node(white.nodes, "dev/n1"));
  CHECK(white.sl == 3);
  CHECK(white.mtu == fabric::Mtu::mtu_4096);
  const std::string shown =
      cluster.out("partition member add white 0x0002c90300a1b2c3 --comment nfs-1");
  CHECK(shown.find("00:02:c9:03:00:a1:b2:c3  full        nfs-1") != std::string::npos);
  REQUIRE(white.members.size() == 1);
  cluster.out("partition member add white 00:02:c9:03:00:a1:b2:c3 --membership limited");
  REQUIRE(white.members.size() == 1);
  CHECK(white.members[0].membership == Membership::limited);
  CHECK(cluster.out("partition get white").find("MEMBER") != std::string::npos);
  cluster.out("partition member remove white 00:02:c9:03:00:a1:b2:c3");
  CHECK(white.members.empty());
  CHECK(cluster.out("partition delete white").find("deleting") != std::string::npos);
  CHECK_FALSE(cluster.state.partitions.contains("white"));
  CHECK(cluster.state.forgotten.empty());
  CHECK(cluster.type("partition delete blue --forget-ports").err ==
        "note: partition blue is gone: its name and P_Key are free\n");
  CHECK(cluster.state.forgotten == std::vector<std::string>{"blue"});
}

TEST_CASE("what is refused before it is asked changes nothing and is not asked") {
  Cluster cluster;
  for (const char* line :
       {"partition create white --pkey 0x7fff", "partition create white --mtu 9",
        "partition create Default", "partition update blue --membership ful",
        "partition member add blue 1234", "partition member remove blue 1234",
        "partition member add blue 0x0002c90300a1b2c3 --membership ful", "partition update blue",
        "partition create bad!", "binding list --state good", "binding list --guid 7",
        "explain a/b/c/d", "explain 0000:3b:00.2 web-0",
        "partition create white --pkey nonsense"}) {
    CAPTURE(std::string(line));
    // The command is refused before the service is asked.
    cluster.state.refusal = Error(Code::unavailable, "no answer");
    const Outcome outcome = cluster.type(line);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.find("error: ") == 0);
    CHECK(outcome.exit == kUsage);
  }
  cluster.state.refusal.reset();
  CHECK(cluster.state.partitions.size() == 3);
  CHECK(cluster.blue() == Cluster().blue());
}

TEST_CASE("a name that is none is told by the name alone") {
  const Outcome outcome = Cluster().type("partition create bad!");
  CHECK(outcome.err.find("name: \"bad!\" is not a partition name") != std::string::npos);
  CHECK(outcome.err.find("0x") == std::string::npos);
}

TEST_CASE("a command that changes nothing does not say that it did") {
  Cluster cluster;
  cluster.state.partitions["blue"].spec.index0 = true;
  const Outcome same = cluster.type("partition update blue --index0");
  CHECK(same.exit == 0);
  CHECK(same.err == "note: nothing changed: partition blue already has these properties\n");
  CHECK(cluster.type("partition update blue --disallow missing").err == same.err);
  CHECK(cluster.type("partition update blue --no-index0").err.empty());
  cluster.state.partitions["blue"].state = fabric::PartitionState::provisioning;
  CHECK(cluster.type("partition update blue --membership full").err ==
        "note: the change is not applied yet: wait until the STATE of partition blue is ready\n");
  cluster.state.partitions["blue"].state = fabric::PartitionState::ready;
  const Outcome none = cluster.type("partition update blue");
  CHECK(none.exit == kUsage);
  CHECK(none.err.find("changes nothing") != std::string::npos);
  const std::string add = "partition member add blue 0x0002c90300a1b2c3";
  CHECK(cluster.type(add).err.empty());
  CHECK(cluster.type(add).err == same.err);
  CHECK(cluster.type("partition member remove blue 0x0002c90300a1b2c4").exit == kNotFound);
  CHECK(cluster.type("binding release n1 c9 net1").exit == kNotFound);
  CHECK(cluster.type("partition delete blue").err.find("is being deleted") != std::string::npos);
  CHECK(cluster.type("partition delete blue").exit == kNotFound);
}

TEST_CASE("an option and its contrary are not both taken") {
  Cluster cluster;
  for (const char* line : {"partition update blue --index0 --no-index0",
                           "plan partition create white --no-index0 --index0"}) {
    CAPTURE(std::string(line));
    const Outcome outcome = cluster.type(line);
    CHECK(outcome.exit > 100);
    CHECK(outcome.err.find("index0 excludes") != std::string::npos);
  }
  CHECK_FALSE(cluster.state.planned);
  CHECK(cluster.type("partition update --help").out.find("{false}") == std::string::npos);
}

TEST_CASE("a declared partition is changed in its file") {
  Cluster cluster;
  cluster.state.partitions["blue"].declared = true;
  const Outcome outcome = cluster.type("partition update blue --index0");
  CHECK(outcome.exit == kDenied);
  CHECK(outcome.err.find("declared in a file") != std::string::npos);
  CHECK_FALSE(cluster.blue().index0);
}

TEST_CASE("any change of a partition can be planned by the same words, and is not made") {
  Cluster cluster;
  cluster.state.plan.set_changed(2);
  CHECK(cluster.out("plan").find("2 ports would change") == 0);
  CHECK(cluster.state.planned == fabricapi::PlanRequest{});
  cluster.out("plan partition create white --pkey 0x0101");
  CHECK(cluster.state.planned->partition->pkey == ib::PKey(0x0101));
  CHECK_FALSE(cluster.state.planned->update);
  cluster.out("plan partition update blue --index0");
  CHECK(cluster.state.planned->partition->index0);
  CHECK(cluster.state.planned->update);
  cluster.out("plan partition member add blue 0x0002c90300a1b2c3");
  CHECK(cluster.state.planned->partition->members.size() == 1);
  cluster.out("plan partition delete blue");
  CHECK(cluster.state.planned->without == "blue");
  CHECK_FALSE(cluster.state.planned->partition);
  CHECK(cluster.state.partitions.size() == 3);
  CHECK(cluster.blue() == Cluster().blue());
}

TEST_CASE("bindings are found by what they are, and released; late is not done") {
  Cluster cluster;
  CHECK(cluster.out("binding list --node n2").find("web-2") != std::string::npos);
  CHECK(cluster.out("binding list --node n2").find("web-0") == std::string::npos);
  CHECK(cluster.out("binding list -n team-a --pod web-1").find("c1") != std::string::npos);
  CHECK(cluster.out("binding get n1 c1 net1").find("team-a/web-1") != std::string::npos);
  CHECK(cluster.type("binding get n1 c9 net1").exit == kNotFound);
  CHECK(cluster.out("binding release n1 c1 net1").find("released") != std::string::npos);
  cluster.state.slow = true;
  CHECK(cluster.type("binding release n1 c1 net1").exit == kNotYet);
}

TEST_CASE("nodes are listed and forgotten; late is not done") {
  Cluster cluster;
  CHECK(cluster.out("node list").find("n1    not since ibpod-sm started") != std::string::npos);
  CHECK(cluster.out("node forget n1") == "node n1 is forgotten, and its GUIDs are free\n");
  CHECK(cluster.type("node forget n7").exit == kNotFound);
  cluster.state.slow = true;
  const Outcome late = cluster.type("node forget n1");
  CHECK(late.exit == kNotYet);
  CHECK(late.out == "node n1 is being forgotten: 2 of its bindings are not released yet\n");
}

TEST_CASE("a node that may be alive is forgotten only by force") {
  Cluster cluster;
  cluster.state.nodes.mutable_nodes(0)->set_last_sync(1'700'000'000'000);
  const Outcome refused = cluster.type("node forget n1");
  CHECK(refused.exit == kUnavailable);
  CHECK(refused.err.find("is alive") != std::string::npos);
  CHECK(cluster.type("node forget n1 --force").exit == 0);
  CHECK(cluster.type("node forget --help").out.find("pods lose their partitions") !=
        std::string::npos);
}

TEST_CASE("pods and ports are explained by the SM service, alone or in pairs") {
  Cluster cluster;
  cluster.state.explanation.reach = {"blue (0x0101): yes"};
  CHECK(cluster.out("explain web-0 team-b/db-0") == "blue (0x0101): yes\n");
  CHECK(cluster.state.explained == std::vector<std::string>{"default/web-0", "team-b/db-0"});
  cluster.out("explain -n team-a web-0");
  CHECK(cluster.state.explained == std::vector<std::string>{"team-a/web-0"});
  cluster.out("explain -n dev/team-a web-0 dev/team-b/db-0");
  CHECK(cluster.state.explained == std::vector<std::string>{"dev/team-a/web-0", "dev/team-b/db-0"});
  cluster.out("explain 0x0002c90300a1b2c3");
  CHECK(cluster.state.explained == std::vector<std::string>{"00:02:c9:03:00:a1:b2:c3"});
  const Outcome mixed = cluster.type("explain 0000:3b:00.2 web-0");
  CHECK(mixed.exit == kUsage);
  CHECK(mixed.err.find("use the GUID") != std::string::npos);
}

TEST_CASE("every command says by its exit code why it could not be done") {
  struct Case {
    Code code;
    int exit;
  };
  const Case cases[] = {{Code::denied, kDenied},    {Code::unavailable, kUnavailable},
                        {Code::busy, kUnavailable}, {Code::not_found, kNotFound},
                        {Code::internal, kFailed},  {Code::exists, kFailed},
                        {Code::invalid, kFailed},   {Code::unsupported, kFailed}};
  for (const Case& test : cases) {
    Cluster cluster;
    cluster.state.refusal = Error(test.code, "because\x1b[31m");
    for (const char* line :
         {"partition list", "partition get blue", "partition create x",
          "partition update blue --index0", "partition delete blue",
          "partition member add blue 0x0002c90300a1b2c3", "plan partition delete blue", "plan",
          "binding list", "binding get a b c", "binding release a b c", "node list",
          "node forget n1", "explain web-0"}) {
      CAPTURE(line);
      const Outcome outcome = cluster.type(line);
      CHECK(outcome.exit == test.exit);
      CHECK(outcome.err == "error: because?[31m\n");
      CHECK(outcome.out.empty());
    }
  }
}

TEST_CASE("the doctor asks the SM service where it is told to, and says what it finds") {
  Cluster cluster;
  cluster.state.health = test::health("m_key", "is 0", "set one");
  const Outcome outcome = cluster.type("doctor --fabric-only --all");
  CHECK(outcome.exit == 2);
  CHECK(outcome.out ==
        "ok: SM service: opensm: serving\nwrong: fabric: m_key: is 0\n    set one\n");
  cluster.state.health.clear_findings();
  CHECK(cluster.out("doctor --fabric-only") == "no problems found\n");
  cluster.state.refusal = Error(Code::unavailable, "no answer");
  const Outcome away = cluster.type("doctor --fabric-only");
  CHECK(away.exit == 2);
  CHECK(away.out.find("wrong: SM service: no answer\n") == 0);
}

TEST_CASE("where ibpod-sm should run here and ib_umad is missing, the doctor says so") {
  constexpr auto kModprobe = "modprobe ib_umad";
  const TempFolder sys;
  Cluster cluster;
  cluster.state.refusal = Error(Code::unavailable, "no answer");
  cluster.sys = sys.path();
  const auto remedy = [&](const std::string& address) {
    return cluster.type("doctor --fabric-only --sm " + address).out;
  };
  for (const char* here : {"unix:/run/ibpod/sm.sock", "/run/ibpod/sm.sock"})
    CHECK(remedy(here).find(kModprobe) != std::string::npos);
  CHECK(remedy("sm.example:7473").find(kModprobe) == std::string::npos);
  std::filesystem::create_directories(sys.path() / "class/infiniband_mad");
  const std::string loaded = remedy("unix:/run/ibpod/sm.sock");
  CHECK(loaded.find(kModprobe) == std::string::npos);
  CHECK(loaded.find("check that ibpod-sm runs at unix:/run/ibpod/sm.sock") != std::string::npos);
}

TEST_CASE("what keeps the doctor from looking at the node ends it with 3, whatever it is") {
  Session session;
  session.paths.proc = "/nonexistent";
  const Outcome outcome = run({"doctor"}, session);
  CHECK(outcome.exit == kFailed);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find("error: ") == 0);
  CHECK(outcome.err.find("/nonexistent/sys/kernel/osrelease") != std::string::npos);
}

TEST_CASE("where the service is comes from the command line, before or behind the noun") {
  Cluster cluster;
  cluster.out("node list");
  CHECK(cluster.connected.address == "unix:/run/ibpod/sm.sock");
  CHECK_FALSE(cluster.connected.given);
  cluster.out("node list --sm sm.example:7473 --certificate c.pem --key k.pem --ca ca.pem");
  CHECK(cluster.connected.address == "sm.example:7473");
  CHECK(cluster.connected.given);
  CHECK(cluster.connected.key == "k.pem");
  cluster.out("--sm h:1 --fabric lab node list");
  CHECK(cluster.connected.address == "h:1");
  CHECK(cluster.connected.fabric == "lab");
  REQUIRE(::setenv("IBPOD_SM", "e:2", 1) == 0);
  cluster.out("node list");
  CHECK(cluster.connected.address == "e:2");
  CHECK(cluster.connected.given);
  cluster.out("node list --sm h:1");
  CHECK(cluster.connected.address == "h:1");
  REQUIRE(::unsetenv("IBPOD_SM") == 0);
}

TEST_CASE("options, the environment and exit codes are in the document as they are in the help") {
  const std::string document = read_file("docs/ibpod-sm.md").value();
  const std::string help = Cluster().type("--help").out;
  // Options of the commands for this node, and of every program.
  const std::set<std::string> elsewhere{"--help", "--version", "--socket"};
  const std::regex word("(--[a-z][a-z0-9-]+|IBPOD_[A-Z]+)");
  size_t found = 0;
  for (std::sregex_iterator at(help.begin(), help.end(), word), end; at != end; ++at) {
    if (elsewhere.contains(at->str())) continue;
    ++found;
    CAPTURE(at->str());
    CHECK(document.find(at->str()) != document.npos);
  }
  CHECK(found >= 12);
  const struct {
    int code;
    const char* meaning;
  } codes[] = {{0, "done"},
               {kNotYet, "not (yet) done"},
               {kFailed, "failed"},
               {kNotFound, "not found"},
               {kDenied, "permission denied"},
               {kUnavailable, "no answer, or a temporary failure: try again later"},
               {kOwnFiles, "the certificate, key or CA cannot be used: nothing was sent"},
               {kOtherFabric, "the service has another fabric"}};
  for (const auto& [code, meaning] : codes) {
    CAPTURE(code);
    CHECK(document.find("\n| " + std::to_string(code) + " | " + meaning) != document.npos);
  }
  CHECK(document.find("\n| above 100 | wrong usage |\n") != document.npos);
  CHECK(document.find("0 no problems, 1 warnings, 2 problems, 3 the check failed") !=
        document.npos);
}

TEST_CASE("where a command is missing there is help, and it is no success") {
  Cluster cluster;
  for (const char* line : {"", "partition", "plan partition member", "--json node"}) {
    CAPTURE(std::string(line));
    const Outcome outcome = cluster.type(line);
    CHECK(outcome.exit == kUsage);
    CHECK(outcome.out.find("Subcommands:") != std::string::npos);
    CHECK(outcome.err.find("needs a command: ") != std::string::npos);
  }
}

TEST_CASE("wrong usage is reported, sends no request, and has exit codes of its own") {
  Cluster cluster;
  for (const char* line :
       {"", "partition", "partition make", "partition create", "binding get n1", "explain",
        "explain a b c", "node forget", "plan partition", "node list --timeout 0", "--nonsense"}) {
    CAPTURE(line);
    const Outcome outcome = cluster.type(line);
    CHECK(outcome.exit > 100);
    CHECK_FALSE(outcome.err.empty());
  }
  CHECK(cluster.type("--help").exit == 0);
  CHECK(cluster.type("partition create --help").out.find("--pkey") != std::string::npos);
  CHECK(cluster.type("--version").out.find('.') != std::string::npos);
}

}  // namespace
}  // namespace ibpod::ctl
