// The plugin as a runtime calls it: environment and standard input in, JSON and an exit code out.
#include "cni/ib-sriov/config.h"
#include "lib/attach/plugin.h"
#include "lib/base/fd.h"
#include "tests/support/plugin_fixture.h"
#include "tests/support/temp_folder.h"

#include <array>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ibpod::ib_sriov {
namespace {

const ib::PciAddress kVf = fake::vf_address(0, 0);
constexpr const char* kGuid = "02:00:00:00:00:00:0a:01";

struct Fixture : attach::PluginFixture {
  Fixture() : PluginFixture(plugin_kind()) {}
};

const std::string kDevice = R"("deviceID":"0000:3b:00.1")";

// The output of run() as a process whose standard input is `input`.
std::string printed_for_version(const Fd& input) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  Fd output(ends[0]), writer(ends[1]);
  std::cout.flush();  // or the child prints it, too
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    char verb[] = "CNI_COMMAND=VERSION";
    char* entries[] = {verb, nullptr};
    const bool ready =
        ::dup2(input.get(), STDIN_FILENO) >= 0 && ::dup2(writer.get(), STDOUT_FILENO) >= 0;
    ::alarm(20);  // a read that waits for a user ends it
    ::_exit(ready ? attach::run(plugin_kind(), "about", entries) : 1);
  }
  writer.close();
  std::string printed;
  std::array<char, 4096> part;
  for (ssize_t size = 0; (size = ::read(output.get(), part.data(), part.size())) > 0;)
    printed.append(part.data(), static_cast<size_t>(size));
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  return printed;
}

TEST_CASE("VERSION answers in the version of its input, and on a terminal it waits for none") {
  TempFolder folder;
  folder.write("conf", R"({"cniVersion":"0.4.0"})");
  const Fd file(::open((folder.path() / "conf").c_str(), O_RDONLY | O_CLOEXEC));
  CHECK(printed_for_version(file).find(R"("cniVersion":"0.4.0")") != std::string::npos);

  const Fd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!master.valid()) {
    MESSAGE("not shown: this machine has no pseudoterminals");
    return;
  }
  REQUIRE((::grantpt(master.get()) == 0 && ::unlockpt(master.get()) == 0));
  const Fd terminal(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  REQUIRE(terminal.valid());
  CHECK(printed_for_version(terminal).find(R"("cniVersion":"1.1.0")") != std::string::npos);
}

TEST_CASE("what Spiderpool writes is served") {
  Fixture fixture;
  fixture.programs.script("spiderpool", R"(case $CNI_COMMAND in
VERSION) echo '{"cniVersion":"1.0.0","supportedVersions":["0.3.1","1.0.0"]}';;
ADD) echo '{"cniVersion":"0.3.1","ips":[{"version":"4","address":"10.7.0.2/16"}]}';;
esac)");
  fixture.k.fabric.others = {ib::PKey(0x8001)};
  const std::string config = R"({"cniVersion":"0.3.1","name":"ib","type":"ib-sriov","pkey":"0x8001",
    "link_state":"enable","rdmaIsolation":true,"ibKubernetesEnabled":false,
    "ipam":{"type":"spiderpool","default_ipv4_ippool":["v4"]},"deviceID":"0000:3b:00.1",
    "pciBusID":"0000:3b:00.1"})";
  const cni::Answer answer = fixture.call("ADD", config);
  REQUIRE_MESSAGE(answer.exit_code == 0, answer.output);
  CHECK(answer.output.find("10.7.0.2/16") != std::string::npos);
  CHECK(fixture.k.function_state(kVf).policy == nl::LinkPolicy::enable);
  REQUIRE(fixture.call("DEL", config).exit_code == 0);
  CHECK(fixture.changes() == "");
}

TEST_CASE("Spiderpool's published example pkey: 1000 is refused with both readings") {
  Fixture fixture;
  const cni::Answer answer = fixture.call(fixture.config(kDevice + R"(,"pkey":"1000")"));
  REQUIRE(answer.failure);
  CHECK(answer.failure->code == 7);
  CHECK(answer.failure->message ==
        "pkey: \"1000\" is ambiguous: write \"0x1000\" for hexadecimal or \"0x03e8\" for decimal");
  CHECK(fixture.changes() == "");
}

TEST_CASE("every verb answers") {
  Fixture fixture;
  const std::string added =
      expect_all_verbs(fixture, fixture.config(kDevice + R"(,"rdmaIsolation":true)"));
  CHECK(added.find(R"("pciID":"0000:3b:00.1")") != std::string::npos);
}

struct PodFixture : Fixture {
  PodFixture() {
    environment["CNI_ARGS"] = "IgnoreUnknown=1;K8S_POD_NAMESPACE=lab;K8S_POD_NAME=pod";
  }
};
const std::string kResource = R"("resourceName":"openib/vfs")";

TEST_CASE("without a deviceID the device is the one that the kubelet gave the pod") {
  PodFixture fixture;
  fixture.agent.given[{"lab/pod", "openib/vfs"}] = kVf.text();
  const cni::Answer added = fixture.call("ADD", fixture.config(kResource));
  REQUIRE_MESSAGE(added.exit_code == 0, added.output);
  CHECK(added.output.find(R"("pciID":"0000:3b:00.1")") != std::string::npos);
  CHECK(fixture.call("CHECK", fixture.config(kResource)).exit_code == 0);
  CHECK(fixture.call("DEL", fixture.config(kResource)).exit_code == 0);
  CHECK(fixture.changes() == "");
}

TEST_CASE("a pod without such a device starts unharmed, with an empty result") {
  PodFixture fixture;
  const cni::Answer added = fixture.call("ADD", fixture.config(kResource));
  CHECK(added.exit_code == 0);
  CHECK(added.output.find("interfaces") == std::string::npos);
  CHECK(added.output.find(R"("cniVersion":"1.1.0")") != std::string::npos);
  CHECK(fixture.call("CHECK", fixture.config(kResource)).exit_code == 0);
  CHECK(fixture.call("DEL", fixture.config(kResource)).exit_code == 0);
  CHECK(fixture.k.trail().empty());
  CHECK(fixture.changes() == "");
}

TEST_CASE(
    "an agent that does not know yet, or is away, is error 11: never a pod without its device") {
  PodFixture fixture;
  fixture.agent.away = Error(Code::unavailable, "the kubelet did not answer");
  const cni::Answer refused = fixture.call("ADD", fixture.config(kResource));
  REQUIRE(refused.failure);
  CHECK(refused.failure->code == 11);
  CHECK(fixture.changes() == "");
}

TEST_CASE("a node can have it that nothing is attached without its agent") {
  Fixture fixture;
  expect_needs_agent(fixture, fixture.config(kDevice));
}

TEST_CASE("a node whose file names the agent attaches nothing without it") {
  Fixture fixture;
  expect_needs_named_agent(fixture, kDevice);
}

TEST_CASE("a pod names a partition, and is in it") {
  PodFixture fixture;
  const std::string config = fixture.config(kDevice + R"(,"partition":"blue")");
  const cni::Answer added = fixture.call("ADD", config);
  REQUIRE_MESSAGE(added.exit_code == 0, added.output);
  CHECK(fixture.call("CHECK", config).exit_code == 0);
  CHECK(fixture.binder.leftovers() != "");
  CHECK(fixture.call("DEL", config).exit_code == 0);
  CHECK(fixture.binder.leftovers() == "");
  CHECK(fixture.changes() == "");
  // ADD is refused while the agent is away.
  fixture.agent.away = Error(Code::unavailable, "connection refused");
  const cni::Answer refused = fixture.call("ADD", config);
  REQUIRE(refused.failure);
  CHECK(refused.failure->code == 11);
  CHECK(fixture.changes() == "");
}

TEST_CASE("a partition that has not come within a short timeoutSeconds is error 11, and says so") {
  Fixture fixture;
  const cni::Answer refused =
      fixture.call("ADD", fixture.config(kDevice + R"(,"pkey":"0x8001","timeoutSeconds":1)"));
  REQUIRE(refused.failure);
  CHECK(refused.failure->code == 11);
  CHECK(refused.output.find("timeoutSeconds of this network is 1 (30 by default)") !=
        std::string::npos);
}

TEST_CASE(
    "the log says of each step how long it took, and at last where the whole call's time went") {
  PodFixture fixture;
  fixture.finishes = true;
  const Path file = fixture.programs.path() / "log";
  fixture.node->log_level = log::Level::debug;
  fixture.node->log_file = file;
  const std::string config = fixture.config(R"("partition":"blue",)" + kDevice);
  REQUIRE(fixture.call("ADD", config).exit_code == 0);
  std::vector<std::string> lines;
  std::istringstream log(read_file(file).value());
  for (std::string line; std::getline(log, line);) lines.push_back(line);
  std::map<std::string, int64_t> steps;
  for (const std::string& line : lines) {
    const json::Value members = json::Value::parse(line).value();
    const std::optional<json::Value> us = members.find("us");
    if (us) steps[members.find("msg")->string().value()] += us->integer().value();
  }
  for (const char* step :
       {"ask the node's agent for its health", "begin the binding", "wait for the binding"})
    CHECK_MESSAGE(steps.contains(step), step);
  const json::Value last = json::Value::parse(lines.back()).value();
  const auto us = [&](const char* key) { return last.find(key)->integer().value(); };
  int64_t sum = 0;
  for (const auto& [step, took] : steps) sum += took;
  CHECK(us("kernel_us") + us("wait_us") + us("outside_us") == sum);
  CHECK(us("whole_us") >= sum);
}

TEST_CASE(
    "a deviceID has to be the pod's by the kubelet's word, and nothing is touched for one that is "
    "not") {
  PodFixture fixture;
  fixture.agent.kubelet = true;
  fixture.agent.given[{"lab/pod", "openib/vfs"}] = kVf.text();
  const std::string other = R"("deviceID":"0000:3b:00.2")";
  const cni::Answer refused = fixture.call("ADD", fixture.config(other));
  REQUIRE(refused.failure);
  CHECK(refused.failure->message.starts_with(
      "deviceID: 0000:3b:00.2: the kubelet has not allocated it to the pod lab/pod; "));
  CHECK(fixture.k.orders() == 0);
  CHECK(fixture.changes() == "");
  CHECK(fixture.call("DEL", fixture.config(other)).exit_code == 0);
  expect_all_verbs(fixture, fixture.config(kDevice));
}

TEST_CASE("DEL works whatever has become of the configuration since") {
  Fixture fixture;
  REQUIRE(fixture.call("ADD", fixture.config(kDevice)).exit_code == 0);
  const cni::Answer answer = fixture.call(
      "DEL", fixture.config(R"("deviceID":7,"pkey":"x","link_state":3,"mtu":"y","guid":[],)"
                            R"("timeoutSeconds":"z","logFile":"relative","rdmaIsolation":"yes")"));
  CHECK(answer.exit_code == 0);
  CHECK(fixture.changes() == "");
}

// Installs one IPAM plugin that logs each call's command on a line of its own.
void install_ipam(const Fixture& fixture) {
  fixture.programs.script("lease", R"(echo $CNI_COMMAND >> "$(dirname "$0")/calls"
case $CNI_COMMAND in
VERSION) echo '{"cniVersion":"1.1.0","supportedVersions":["1.0.0","1.1.0"]}';;
ADD) echo '{"cniVersion":"1.1.0","ips":[{"address":"10.7.0.2/16"}]}';;
esac)");
}

const std::vector<std::string> kBadForAddOnly{
    R"("dns":7)",
    R"("dns":{"nameservers":"x"})",
    R"("capabilities":{"infinibandGUID":"yes"})",
    R"("capabilities":[])",
    R"("args":"x")",
    R"("args":{"cni":7})",
    R"("args":{"cni":{},"CNI":{}})",
    R"("ipam":7)",
    R"("ipam":{"type":7})",
    R"("ipam":{"type":"../x"})",
    R"("ipam":{"subnet":"10.0.0.0/8"})",
    R"("ipam":{"type":"lease"},"IPAM":{"type":"lease"})",
    R"("ipam":{"type":"dhcp"})",
    R"("prevResult":"x")",
    R"("runtimeConfig":[])",
    R"("type":[],"Type":[])",
    R"("cni.dev/valid-attachments":7)",
};

TEST_CASE("a configuration that only ADD cares for does not keep DEL from releasing everything") {
  for (const std::string& keys : kBadForAddOnly) {
    CAPTURE(keys);
    Fixture fixture;
    install_ipam(fixture);
    REQUIRE(
        fixture.call("ADD", fixture.config(kDevice + R"(,"ipam":{"type":"lease"})")).exit_code ==
        0);
    REQUIRE_FALSE(fixture.changes().empty());
    const std::string bad = fixture.bare(keys);
    if (keys.find("../x") == std::string::npos) CHECK(fixture.call("ADD", bad).exit_code == 1);
    const cni::Answer answer = fixture.call("DEL", bad);
    CHECK_MESSAGE(answer.exit_code == 0, answer.output);
    CHECK(fixture.changes() == "");
    // The address is released by the configuration in the record.
    CHECK(read_file(fixture.programs.path() / "calls").value() == "VERSION\nADD\nDEL\n");
  }
}

TEST_CASE("ADD refuses ib-sriov and ipoib as IPAM plugins, and no verb runs them") {
  Fixture fixture;
  for (const char* type : {"ib-sriov", "ipoib"}) {
    fixture.programs.script(type, R"(touch "$(dirname "$0")/ran")");
    const std::string config = fixture.config(kDevice + R"(,"ipam":{"type":")" + type + "\"}");
    CHECK(fixture.call("ADD", config).failure->code == 7);
    CHECK(fixture.call("DEL", config).exit_code == 0);
    for (const char* verb : {"STATUS", "GC"}) CHECK(fixture.call(verb, config).exit_code == 1);
  }
  CHECK_FALSE(path_exists(fixture.programs.path() / "ran"));
  fixture.programs.script("other",
                          R"([ -n "$IBPOD_CALLED_AS_IPAM" ] && touch "$(dirname "$0")/told")");
  fixture.call("ADD", fixture.config(kDevice + R"(,"ipam":{"type":"other"})"));
  CHECK(path_exists(fixture.programs.path() / "told"));
  fixture.environment["IBPOD_CALLED_AS_IPAM"] = "1";
  for (const char* verb : {"ADD", "DEL", "CHECK", "GC", "STATUS"}) {
    const cni::Answer refused = fixture.call(verb, fixture.config(kDevice));
    REQUIRE(refused.failure);
    CHECK(refused.failure->message ==
          "ipam: ib-sriov was called as an IPAM plugin, but is not one");
  }
  CHECK(fixture.changes() == "");
}

TEST_CASE("STATUS tells of a node without ib_ipoib, where every ADD fails") {
  Fixture fixture;
  CHECK(fixture.call("STATUS", fixture.config(kDevice)).exit_code == 0);
  const auto functions = fixture.k.state.functions;
  for (const auto& [address, function] : functions) fixture.k.unbind(address);
  const cni::Answer answer = fixture.call("STATUS", fixture.config(kDevice));
  REQUIRE(answer.failure);
  CHECK(answer.failure->code == 50);
  CHECK(answer.failure->message.find("load ib_ipoib") != std::string::npos);
  CHECK(fixture.call("ADD", fixture.config(kDevice)).failure);
  CHECK(fixture.call("STATUS", fixture.config(kDevice + R"(,"vfioPciMode":true)")).exit_code == 0);
}

TEST_CASE("a network that is larger than any is refused") {
  Fixture fixture;
  const cni::Answer refused =
      fixture.call("ADD", fixture.config(kDevice + R"(,"x":")" + std::string(1 << 16, 'x') + "\""));
  REQUIRE(refused.failure);
  CHECK(refused.failure->code == 6);
  CHECK(refused.failure->message == "standard input: larger than the limit of 65536 bytes");
}

TEST_CASE("a network of more values than any is refused before it is read") {
  Fixture fixture;
  const auto args = [](size_t lists) {
    std::string elements = "[]";
    for (size_t n = 1; n < lists; ++n) elements += ",[]";
    return R"("args":{"cni":{"x":[)" + elements + "]}}";
  };
  const auto of = [&](size_t lists) { return fixture.config(kDevice + "," + args(lists)); };
  for (const char* const verb : {"ADD", "CHECK", "STATUS"}) {
    const cni::Answer refused = fixture.call(verb, of(1100));
    REQUIRE(refused.failure);
    CHECK(refused.failure->code == 6);
    CHECK(refused.failure->message ==
          "standard input: JSON: more than 2048 objects, lists and members");
  }
  REQUIRE(fixture.call("ADD", of(100)).exit_code == 0);
  CHECK(fixture.call("GC", of(1100)).exit_code == 0);
  // A DEL with too many arguments that is refused for another reason is answered in its own
  // version.
  const cni::Answer unnamed = fixture.call("DEL", R"({"cniVersion":"0.4.0",)" + args(1100) + "}");
  REQUIRE(unnamed.failure);
  CHECK(unnamed.output.find("\"cniVersion\":\"0.4.0\"") != std::string::npos);
  CHECK(fixture.call("DEL", of(1100)).exit_code == 0);
}

TEST_CASE("a network's warnings are told in few lines, and each of few letters") {
  Fixture fixture;
  fixture.node->log_file = fixture.state.path() / "log";
  fixture.node->log_level = log::Level::warning;
  std::string keys;
  for (int n = 0; n < 900; ++n) keys += ",\"k" + std::to_string(n) + "\":1";
  REQUIRE(
      fixture.call("ADD", fixture.config(kDevice + keys + ",\"" + std::string(9000, 'y') + "\":1"))
          .exit_code == 0);
  const std::string log = read_file(fixture.node->log_file, 1 << 20).value();
  CHECK(log.find("and 885 more warnings of this network") != std::string::npos);
  CHECK(log.size() < 30'000);
}

TEST_CASE("DEL takes a network that is larger than an ADD's may be") {
  Fixture fixture;
  REQUIRE(fixture.call("ADD", fixture.config(kDevice)).exit_code == 0);
  const std::string large = kDevice + R"(,"x":")" + std::string(1 << 20, 'x') + "\"";
  CHECK(fixture.call("CHECK", fixture.config(large)).failure->code == 6);
  CHECK(fixture.call("DEL", fixture.config(large)).exit_code == 0);
  CHECK(fixture.changes() == "");
}

TEST_CASE("a network whose bytes all take six in its record is given back all the same") {
  Fixture fixture;
  const std::string odd = kDevice + R"(,"x":")" + std::string(60'000, '\x7f') + "\"";
  REQUIRE(fixture.call("ADD", fixture.config(odd)).exit_code == 0);
  CHECK(fixture.call("DEL", fixture.config(odd)).exit_code == 0);
  CHECK(fixture.changes() == "");
}

TEST_CASE("an IPAM that the node does not allow is not run, for ADD or for DEL") {
  Fixture fixture;
  install_ipam(fixture);
  const std::string config = fixture.config(kDevice + R"(,"ipam":{"type":"lease"})");
  fixture.node->ipam_types = {"static"};
  const cni::Answer refused = fixture.call("ADD", config);
  REQUIRE(refused.failure);
  CHECK(refused.failure->code == 7);
  CHECK(refused.failure->message ==
        "ipam.type: \"lease\" is not allowed on this node: add it to ipamTypes in "
        "/etc/ibpod/cni.json");
  CHECK(fixture.changes() == "");
  fixture.node->ipam_types = {"static", "lease"};
  REQUIRE(fixture.call("ADD", config).exit_code == 0);
  fixture.node->ipam_types = std::vector<std::string>();
  CHECK(fixture.call("DEL", config).exit_code == 0);
  CHECK(fixture.changes() == "");
  CHECK(read_file(fixture.programs.path() / "calls").value() == "VERSION\nADD\n");
}

TEST_CASE("DEL of nothing recorded asks no IPAM that cannot be told, and says so") {
  Fixture fixture;
  install_ipam(fixture);
  const Path log = fixture.state.path() / "log";
  fixture.node->log_level = log::Level::warning;
  fixture.node->log_file = log;
  const cni::Answer answer =
      fixture.call("DEL", fixture.bare(kDevice + R"(,"ipam":{"name":"lease"})"));
  CHECK(answer.exit_code == 0);
  CHECK(fixture.changes() == "");
  CHECK_FALSE(path_exists(fixture.programs.path() / "calls"));
  CHECK(read_file(log).value().find("which names the IPAM plugin; DEL continues without it") !=
        std::string::npos);
}

TEST_CASE("DEL is refused where its attachment, or the version to answer in, is unknown") {
  Fixture fixture;
  REQUIRE(fixture.call("ADD", fixture.config(kDevice)).exit_code == 0);
  CHECK(fixture.call("DEL", fixture.config("", "9.9.9")).failure->code == 1);
  CHECK(fixture.call("DEL", R"({"cniVersion":"1.1.0","type":"ib-sriov"})").failure->code == 7);
  CHECK(fixture.call("DEL", R"({"name":"blue")").failure->code == 6);
  CHECK(fixture.call("DEL", fixture.config("")).exit_code == 0);
  CHECK(fixture.changes() == "");
}

TEST_CASE("what is refused is in the log file, with the call and the device") {
  Fixture fixture;
  fixture.finishes = true;
  const Path log = fixture.state.path() / "log";
  fixture.node->log_file = log;
  const struct {
    const char* keys;
    const char* message;
  } table[] = {
      {R"("pkey":"1000")", "is ambiguous"},
      {R"("mtu":"x")", "mtu: expected"},
      {R"("timeoutSeconds":0)", "timeoutSeconds: expected"},
      {R"("loglevel":"loud")", "is not a log level"},
      {R"("ipam":{"type":"dhcp"})", "cannot serve InfiniBand"},
      {R"("ipam":7)", "ipam: expected an object"},
      {R"("cniversion":"1.1.0")", "differ only in case"},
  };
  for (const auto& refusal : table) {
    CAPTURE(refusal.keys);
    REQUIRE(fixture.call("ADD", fixture.config(kDevice + "," + refusal.keys)).exit_code == 1);
    const std::string text = read_file(log).value();
    CHECK(text.find(refusal.message) != std::string::npos);
    for (const char* member : {R"("command":"ADD")", R"("network":"blue")", R"("containerID":"c1")",
                               R"("device":"0000:3b:00.1")", R"("level":"error")"}) {
      CHECK(text.find(member) != std::string::npos);
    }
    CHECK(remove_file(log));
  }
  CHECK(fixture.changes() == "");
}

TEST_CASE("ib-kubernetes is waited for where the network says so") {
  Fixture fixture;
  const std::string on = kDevice + R"(,"ibKubernetesEnabled":true)";
  const auto refused = [&](const std::string& keys) {
    const cni::Answer answer = fixture.call("ADD", fixture.config(on + keys));
    REQUIRE(answer.failure);
    CHECK(answer.failure->code == 11);
    CHECK(fixture.changes() == "");
    return answer.failure->message;
  };
  CHECK(refused("") ==
        "ibKubernetesEnabled: ib-kubernetes has not configured this pod yet: args.cni has no "
        "\"mellanox.infiniband.app\": \"configured\"");
  CHECK(refused(R"(,"args":{"cni":{"mellanox.infiniband.app":true}})").find("has no") !=
        std::string::npos);
  CHECK(refused(R"(,"args":{"cni":{"mellanox.infiniband.app":"configured"}})") ==
        "ibKubernetesEnabled: ib-kubernetes has given this pod no GUID: args.cni.guid and "
        "runtimeConfig.infinibandGUID are empty");
  const std::string ready =
      R"(,"args":{"cni":{"mellanox.infiniband.app":"configured","pkey":"0x1","guid":")" +
      std::string(kGuid) + "\"}}";
  CHECK(fixture.call("ADD", fixture.config(on + ready)).exit_code == 0);
}

TEST_CASE("where the agent wants it, a network that names no partition is refused") {
  Fixture fixture;
  attach::expect_needs_partition(fixture, kDevice);
}

struct AgentRequiredFixture : Fixture {
  AgentRequiredFixture() {
    REQUIRE(node::Records(state.path() / "made").make_folder());
    REQUIRE(attach::AgentRequiredFile(state.path() / "made").write("/run/ibpod/agent.sock"));
  }
};

// The agent binds the pod, and it leaves nothing behind.
void expect_bound(AgentRequiredFixture& fixture, const std::string& network) {
  const cni::Answer added = fixture.call("ADD", network);
  REQUIRE_MESSAGE(added.exit_code == 0, added.output);
  CHECK(fixture.binder.calls > 0);
  CHECK(fixture.call("CHECK", network).exit_code == 0);
  CHECK(fixture.call("DEL", network).exit_code == 0);
  CHECK(fixture.changes() == "");
}

TEST_CASE("where the agent binds, a network for ib-kubernetes needs no ib-kubernetes") {
  AgentRequiredFixture fixture;
  const std::string network =
      fixture.config(kDevice + R"(,"ibKubernetesEnabled":true,"pkey":"0x1")");
  expect_bound(fixture, network);
}

// The type is only the name by which the runtime finds the program. ib-kubernetes changes the pods
// of networks of the type "ib-sriov", and of no others.
TEST_CASE("where the agent binds, a network may call the plugin by a second name of its program") {
  AgentRequiredFixture fixture;
  const std::string network = fixture.bare(R"("type":"ibpod-ib-sriov","pkey":"0x1",)" + kDevice);
  expect_bound(fixture, network);
}

TEST_CASE("where the agent binds, a GUID is chosen if the SM service lets it, beside a partition") {
  AgentRequiredFixture fixture;
  const std::string keys = kDevice + R"(,"pkey":"0x1","guid":")" + std::string(kGuid) +
                           R"(","args":{"cni":{"mellanox.infiniband.app":"configured"}})";
  fixture.binder.taken = {ib::Guid::parse(kGuid).value()};
  const cni::Answer refused = fixture.call("ADD", fixture.config(keys));
  REQUIRE(refused.failure);
  CHECK(refused.failure->code == 103);
  CHECK(fixture.changes() == "");
  fixture.binder.taken.clear();
  const cni::Answer added = fixture.call("ADD", fixture.config(keys));
  REQUIRE_MESSAGE(added.exit_code == 0, added.output);
  CHECK(fixture.call("DEL", fixture.config(keys)).exit_code == 0);
  CHECK(fixture.changes() == "");
}

TEST_CASE("where the agent binds, a network cannot set a GUID alone, or mellanox.infiniband.app") {
  AgentRequiredFixture fixture;
  const auto refused = [&](const std::string& keys) {
    const cni::Answer answer = fixture.call("ADD", fixture.config(kDevice + keys));
    REQUIRE(answer.failure);
    CHECK(answer.failure->code == 7);
    CHECK(fixture.changes() == "");
    CHECK(fixture.binder.calls == 0);
    return answer.failure->message;
  };
  const std::string guid = "\"" + std::string(kGuid) + "\"";
  const std::string may_not = ": " + std::string(kGuid) +
                              ": the SM service assigns the GUIDs of this node's VFs, and a "
                              "network can request one only together with partition or pkey";
  CHECK(refused(",\"guid\":" + guid) == "guid" + may_not);
  CHECK(refused(R"(,"args":{"cni":{"guid":)" + guid + "}}") == "args.cni.guid" + may_not);
  CHECK(refused(R"(,"runtimeConfig":{"infinibandGUID":)" + guid + "}") ==
        "runtimeConfig.infinibandGUID" + may_not);
  CHECK(refused(R"(,"args":{"cni":{"mellanox.infiniband.app":"configured"}})")
            .starts_with("args.cni[\"mellanox.infiniband.app\"]: \"configured\" is not supported"));
  CHECK(refused(R"(,"pkey":"0x1","args":{"cni":{"mellanox.infiniband.app":"configured"}})")
            .starts_with("args.cni[\"mellanox.infiniband.app\"]: \"configured\" is not supported"));
}

TEST_CASE("no stateDir leads past the mark of the node") {
  AgentRequiredFixture fixture;
  fixture.node->allow_in_networks = true;
  fixture.agent.away = Error(Code::unavailable, "connection refused");
  const std::string elsewhere =
      R"({"cniVersion":"1.1.0","name":"blue","type":"ib-sriov","stateDir":")" +
      (fixture.state.path() / "elsewhere").string() + R"(","guid":")" + std::string(kGuid) +
      R"(",)" + kDevice + "}";
  const cni::Answer refused = fixture.call("ADD", elsewhere);
  REQUIRE(refused.failure);
  CHECK(refused.failure->code == 7);
  CHECK(refused.failure->message.starts_with("stateDir: "));
  CHECK(fixture.changes() == "");
  CHECK(fixture.call("DEL", elsewhere).exit_code == 0);
}

TEST_CASE("on a marked node DEL and GC go by the node's own records alone") {
  AgentRequiredFixture fixture;
  fixture.node->allow_in_networks = true;
  const Path forged = fixture.state.path() / "forged";
  const auto network_in = [&](const Path& folder) {
    return R"({"cniVersion":"1.1.0","name":"blue","type":"ib-sriov",)" + kDevice +
           R"(,"cni.dev/valid-attachments":[],"stateDir":")" + folder.string() + "\"}";
  };
  REQUIRE(fixture.call("ADD", fixture.config(kDevice)).exit_code == 0);
  std::filesystem::create_directories(forged);
  std::filesystem::copy(fixture.state.path() / "made" / "attachments", forged / "attachments",
                        std::filesystem::copy_options::recursive);
  CHECK(fixture.call("DEL", network_in(fixture.state.path() / "empty")).exit_code == 0);
  CHECK(fixture.changes() == "");
  const int orders = fixture.k.orders();
  CHECK(fixture.call("DEL", network_in(forged)).exit_code == 0);
  CHECK(fixture.call("GC", network_in(forged)).exit_code == 0);
  CHECK(fixture.k.orders() == orders);
  CHECK(list_folder(forged / "attachments")->size() == 1);
}

TEST_CASE(
    "DEL fails where its record is in the stateDir of the network, and says where that belongs") {
  Fixture fixture;
  const Path old = fixture.state.path() / "old";
  const std::string config = fixture.config(kDevice + R"(,"stateDir":")" + old.string() + "\"");
  fixture.node->allow_in_networks = true;
  REQUIRE(fixture.call("ADD", config).exit_code == 0);
  fixture.node->allow_in_networks = false;
  const cni::Answer refused = fixture.call("DEL", config);
  REQUIRE(refused.failure);
  CHECK(refused.failure->code == 7);
  CHECK(refused.failure->message ==
        "stateDir: the record of this attachment is in " + old.string() +
            ", the network's stateDir: set it as stateDir in /etc/ibpod/cni.json until the pods "
            "of that network are gone");
  fixture.node->state_folder = old;
  CHECK(fixture.call("DEL", config).exit_code == 0);
  fixture.node->state_folder = fixture.state.path() / "made";
  CHECK(fixture.call("DEL", config).exit_code == 0);
  CHECK(fixture.changes() == "");
}

TEST_CASE(
    "a folder of records that the agent has made and that is missing is not one without any") {
  AgentRequiredFixture fixture;
  const Path folder = fixture.state.path() / "made/attachments";
  REQUIRE(fixture.call("ADD", fixture.config(kDevice)).exit_code == 0);
  std::filesystem::rename(folder, fixture.state.path() / "unmounted");
  const int orders = fixture.k.orders();
  for (const char* verb : {"DEL", "ADD", "GC"}) {
    const cni::Answer refused =
        fixture.call(verb, fixture.config(kDevice + R"(,"cni.dev/valid-attachments":[])"));
    REQUIRE(refused.failure);
    CHECK(refused.failure->code == 11);
    CHECK(refused.failure->message.find(folder.string() + " is missing") != std::string::npos);
  }
  CHECK(fixture.k.orders() == orders);
  std::filesystem::rename(fixture.state.path() / "unmounted", folder);
  CHECK(fixture.call("DEL", fixture.config(kDevice)).exit_code == 0);
  CHECK(fixture.changes() == "");
}

TEST_CASE("the agent's socket says that a folder of records was there, if its mark is away too") {
  Fixture fixture;
  fixture.node->agent_socket = fixture.state.path() / "agent.sock";
  REQUIRE(write_file_atomically(fixture.node->agent_socket, ""));
  CHECK(fixture.call("DEL", fixture.config(kDevice)).failure->code == 11);
  // Without an agent, a missing folder means a fresh node.
  REQUIRE(remove_file(fixture.node->agent_socket));
  CHECK(fixture.call("DEL", fixture.config(kDevice)).exit_code == 0);
}

TEST_CASE("an ADD waits for an agent that restarts") {
  AgentRequiredFixture fixture;
  fixture.agent.away = Error(Code::unavailable, "connection refused");
  fixture.k.at_next_wait([&](fake::FakeKernel&) { fixture.agent.away.reset(); });
  const cni::Answer added = fixture.call("ADD", fixture.config(kDevice + R"(,"pkey":"0x1")"));
  REQUIRE_MESSAGE(added.exit_code == 0, added.output);
  CHECK(fixture.binder.calls > 0);
}

// --- bad inputs

std::string key(const std::string& text) { return kDevice + "," + text; }
const std::string kNoDevice =
    "deviceID is missing: with Multus, set the network's annotation "
    "k8s.v1.cni.cncf.io/resourceName to a resource that the pod requests; without Multus, set "
    "resourceName in the network to that resource, and the node's agent finds the device";
const std::string kNoPciAddress = "\" is not a PCI address: expected a form such as 0000:3b:00.2";
const std::string kNoGuid =
    "\" is not a GUID: expected eight bytes in hex, such as 00:11:22:33:44:55:66:77";
const std::string kNoKey = "\" is not a P_Key: expected 0x0001 to 0xffff, such as \"0x8001\"";
const std::string kFree =
    " is not a partition: 0x0000 and 0x8000 mark free entries of a P_Key table";
const std::string kNetworkName =
    "\" is not a network name: expected a letter or digit, then letters, digits, '_', '.' and '-', "
    "at "
    "most 255 in all";
const std::string kContainer =
    "\": expected a letter or digit, then letters, digits, '_', '.' and '-', at most 255 in all";
const std::string kIfname =
    "\": expected 1 to 15 bytes of UTF-8 without '/', ':', '%' and white space, not \".\" or "
    "\"..\"";

const std::string kNodesOwn =
    ": a network cannot set it on this node: set it in /etc/ibpod/cni.json on the node, or allow "
    "it there with \"allowInNetworks\": true";

const std::vector<attach::BadInput> kBad{
    // JSON
    {"raw", "[]", 6, "the document: expected an object, got a list"},
    {"raw", R"({"name":"n","name":"m"})", 6, "JSON: duplicate key \"name\""},
    {"raw", R"("text")", 6, "the document: expected an object, got the string \"text\""},
    {"raw", R"({"cniVersion":"1.1.0","type":"ib-sriov"})", 7,
     "the document: the key \"name\" is missing"},
    {"raw", R"({"cniVersion":"9.9.9","name":"n"})", 1,
     "cniVersion is \"9.9.9\": this plugin supports 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, "
     "1.1.0"},
    {"raw", R"({"cniVersion":7,"name":"n"})", 7, "cniVersion: expected a string, got the number 7"},
    {"raw", R"({"cniVersion":"1.1.0","name":"../n"})", 7, "name: \"../n" + kNetworkName},
    {"raw", R"({"cniVersion":"1.1.0","name":"-n"})", 7, "name: \"-n" + kNetworkName},
    {"raw", R"({"cniVersion":"1.1.0","name":["n"]})", 7, "name: expected a string, got a list"},
    // the device
    {"", "", 7, kNoDevice},
    {"", R"("deviceID":"")", 7, kNoDevice},
    {"", R"("resourceName":"vfs")", 7,
     "resourceName: expected PREFIX/NAME as pods request it, got \"vfs\""},
    {"", key(R"("resourceName":"vfs")"), 7,
     "resourceName: expected PREFIX/NAME as pods request it, got \"vfs\""},
    {"", R"("resourceName":"openib/vfs/1")", 7,
     "resourceName: expected PREFIX/NAME as pods request it, got \"openib/vfs/1\""},
    {"", R"("resourceName":"kubernetes.io/vfs")", 7,
     "resourceName: \"kubernetes.io\" is reserved for Kubernetes: use a domain of your own, such "
     "as "
     "\"example.com\""},
    {"", R"("resourceName":"openib/-vfs")", 7,
     "resourceName: \"-vfs\" is not a resource name: expected 1 to 63 letters, digits, '_', '-' "
     "and "
     "'.', a letter or digit at either end, such as \"ib_vfs\""},
    {"", R"("resourceName":7)", 7, "resourceName: expected a string, got the number 7"},
    {"", R"("resourceName":"openib/vfs")", 4,
     "CNI_ARGS: K8S_POD_NAMESPACE and K8S_POD_NAME are missing: a network without deviceID "
     "requires them"},
    {"", R"("resourceName":"openib/vfs","agentSocket":"agent.sock")", 7,
     "agentSocket: expected an absolute path without \"..\", got \"agent.sock\""},
    {"", key(R"("agentSocket":"/run/x.sock")"), 7, "agentSocket" + kNodesOwn},
    {"", key(R"("stateDir":"/etc/foo")"), 7, "stateDir" + kNodesOwn},
    {"", key(R"("logFile":"/etc/ld.so.preload")"), 7, "logFile" + kNodesOwn},
    {"", key(R"("logfile":"/etc/ld.so.preload")"), 7, "logFile" + kNodesOwn},
    {"", key(R"("logLevel":"debug")"), 7, "logLevel" + kNodesOwn},
    {"", R"("deviceID":7)", 7, "deviceID: expected a string, got the number 7"},
    {"", R"("deviceID":"../../../etc")", 7, "deviceID: \"../../../etc" + kNoPciAddress},
    {"", R"("deviceID":"0000:3b:00.1/..")", 7, "deviceID: \"0000:3b:00.1/.." + kNoPciAddress},
    {"", R"("deviceID":"3b:00.1")", 7,
     "deviceID: \"3b:00.1\" is not a PCI address: write 0000:3b:00.1"},
    {"", R"("deviceID":"0000:3b:00.8")", 7, "deviceID: \"0000:3b:00.8" + kNoPciAddress},
    {"", R"("deviceID":"mlx5_core.sf.4")", 7, "deviceID: \"mlx5_core.sf.4" + kNoPciAddress},
    {"", R"("deviceID":"0000:ff:00.1")", 101,
     "deviceID 0000:ff:00.1: there is no such PCI function on this node"},
    {"", R"("deviceID":"0000:3b:00.0")", 7,
     "deviceID 0000:3b:00.0 is a physical function: use one of its VFs, or bind it to vfio-pci to "
     "pass all of it to a virtual machine"},
    {"", key(R"("deviceid":"0000:3b:00.2")"), 7,
     "deviceid: the keys \"deviceID\" and \"deviceid\" differ only in case: keep \"deviceID\""},
    {"", key(R"("runtimeConfig":{"deviceID":"0000:3b:00.2"})"), 7,
     "deviceID: \"0000:3b:00.1\" and runtimeConfig.deviceID: \"0000:3b:00.2\" differ: both must "
     "name the same device"},
    {"", key(R"("vfioPciMode":true)"), 7,
     "vfioPciMode: deviceID 0000:3b:00.1 is bound to mlx5_core, not to vfio-pci: bind it to "
     "vfio-pci, or remove vfioPciMode"},
    {"", key(R"("vfioPciMode":"yes")"), 7,
     "vfioPciMode: expected true or false, got the string \"yes\""},
    // types and values
    {"", key(R"("rdmaIsolation":"true")"), 7,
     "rdmaIsolation: expected true or false, got the string \"true\""},
    {"", key(R"("rdmaIsolation":1)"), 7, "rdmaIsolation: expected true or false, got the number 1"},
    {"", key(R"("rdmaIsolation":true,"rdmaisolation":false)"), 7,
     "rdmaisolation: the keys \"rdmaIsolation\" and \"rdmaisolation\" differ only in case: keep "
     "\"rdmaIsolation\""},
    {"", key(R"("ibKubernetesEnabled":[])"), 7,
     "ibKubernetesEnabled: expected true or false, got a list"},
    {"", key(R"("link_state":"up")"), 7,
     "link_state: expected auto, enable or disable, got \"up\""},
    {"", key(R"("link_state":"Auto")"), 7,
     "link_state: expected auto, enable or disable, got \"Auto\""},
    {"", key(R"("link_state":true)"), 7, "link_state: expected a string, got true"},
    {"", key(R"("mtu":67)"), 7, "mtu: expected a whole number from 68 to 65520, got the number 67"},
    {"", key(R"("mtu":"2044")"), 7, "mtu: expected a whole number, got the string \"2044\""},
    {"", key(R"("mtu":1500.5)"), 7, "mtu: expected a whole number, got the number 1500.5"},
    {"", key(R"("timeoutSeconds":0)"), 7,
     "timeoutSeconds: expected a whole number from 1 to 110, got the number 0"},
    {"", key(R"("timeoutSeconds":111)"), 7,
     "timeoutSeconds: expected a whole number from 1 to 110, got the number 111"},
    {"", key(R"("loglevel":"loud")"), 7,
     "logLevel: \"loud\" is not a log level: expected debug, info, warning or error"},
    {"", key(R"("logFile":"../log")"), 7,
     "logFile: expected an absolute path without \"..\", got \"../log\""},
    {"", key(R"("logFile":"/var/../etc/passwd")"), 7,
     "logFile: expected an absolute path without \"..\", got \"/var/../etc/passwd\""},
    {"", key(R"("runtimeConfig":{"CNIDeviceInfoFile":"info"})"), 7,
     "runtimeConfig.CNIDeviceInfoFile: expected an absolute path without \"..\", got \"info\""},
    {"", key(R"("runtimeConfig":{"CNIDeviceInfoFile":"/run/../etc/passwd"})"), 7,
     "runtimeConfig.CNIDeviceInfoFile: expected an absolute path without \"..\", got "
     "\"/run/../etc/passwd\""},
    {"", key(R"("runtimeConfig":{"CNIDeviceInfoFile":"/etc/cron.d/x"})"), 7,
     "runtimeConfig.CNIDeviceInfoFile: \"/etc/cron.d/x\" is not in /devinfo, the only folder "
     "that this node allows (deviceInfoDir in /etc/ibpod/cni.json)"},
    {"", key(R"("runtimeConfig":{"CNIDeviceInfoFile":"/devinfo/x/y"})"), 7,
     "runtimeConfig.CNIDeviceInfoFile: \"/devinfo/x/y\" is not in /devinfo, the only folder "
     "that this node allows (deviceInfoDir in /etc/ibpod/cni.json)"},
    {"", key(R"("runtimeConfig":[])"), 7, "runtimeConfig: expected an object, got a list"},
    {"", key(R"("args":"x")"), 7, "args: expected an object, got the string \"x\""},
    {"", key(R"("capabilities":{"infinibandGUID":"yes"})"), 7,
     "capabilities.infinibandGUID: expected true or false, got the string \"yes\""},
    // GUIDs
    {"", key(R"("guid":"00:00:00:00:00:00:00:00")"), 7,
     "guid: 00:00:00:00:00:00:00:00 is all zeros: a port cannot have this GUID"},
    {"", key(R"("guid":"ff:ff:ff:ff:ff:ff:ff:ff")"), 7,
     "guid: ff:ff:ff:ff:ff:ff:ff:ff is all ones, which means that the port has no GUID"},
    {"", key(R"("guid":"02:00:5e:10:00:00")"), 7, "guid: \"02:00:5e:10:00:00" + kNoGuid},
    {"", key(R"("guid":"0g:00:00:00:00:00:00:01")"), 7,
     "guid: \"0g:00:00:00:00:00:00:01" + kNoGuid},
    {"", key(R"("guid":12)"), 7, "guid: expected a string, got the number 12"},
    {"", key(R"("runtimeConfig":{"infinibandGUID":"x"})"), 7,
     "runtimeConfig.infinibandGUID: \"x" + kNoGuid},
    {"", key(R"("args":{"cni":{"guid":5}})"), 7,
     "args.cni.guid: expected a string, got the number 5"},
    {"",
     key(R"("guid":"02:00:00:00:00:00:00:01","args":{"cni":{"guid":"02:00:00:00:00:00:00:02"}})"),
     7, "guid: 02:00:00:00:00:00:00:01 differs from args.cni.guid: 02:00:00:00:00:00:00:02"},
    // P_Keys
    {"", key(R"("pkey":"1000")"), 7,
     "pkey: \"1000\" is ambiguous: write \"0x1000\" for hexadecimal or \"0x03e8\" for decimal"},
    {"", key(R"("pkey":"0x")"), 7, "pkey: \"0x" + kNoKey},
    {"", key(R"("pkey":"0x10000")"), 7, "pkey: \"0x10000" + kNoKey},
    {"", key(R"("pkey":"blue")"), 7,
     "pkey: \"blue" + kNoKey + "; to name a partition, use \"partition\""},
    {"", key(R"("pkey":"0x0000")"), 7, "pkey: 0x0000" + kFree},
    {"", key(R"("pkey":"0x8000")"), 7, "pkey: 0x8000" + kFree},
    {"", key(R"("pkey":65536)"), 7, "pkey: 65536 is not a P_Key: expected 1 to 65535"},
    {"", key(R"("pkey":-1)"), 7, "pkey: -1 is not a P_Key: expected 1 to 65535"},
    {"", key(R"("pkey":0)"), 7, "pkey: 0x0000" + kFree},
    {"", key(R"("pkey":{})"), 7, "pkey: expected a P_Key (\"0x8001\" or a number), got {}"},
    // IPAM
    {"", key(R"("ipam":{"type":"dhcp"})"), 2,
     "ipam.type: \"dhcp\" cannot serve InfiniBand: its daemon builds requests from 6-byte Ethernet "
     "addresses; use host-local, static, whereabouts or another one"},
    {"", key(R"("ipam":{"subnet":"10.0.0.0/8"})"), 7,
     "ipam: the key \"type\" is missing, which names the IPAM plugin"},
    {"", key(R"("ipam":{"type":"../lease"})"), 7, "ipam.type: \"../lease\" is not a program name"},
    {"", key(R"("ipam":7)"), 7, "ipam: expected an object, got the number 7"},
    {"", key(R"("dns":{"nameservers":"x"})"), 7,
     "dns.nameservers: expected a list, got the string \"x\""},
    // the environment
    {"CNI_CONTAINERID", "../c", 4, "CNI_CONTAINERID is \"../c" + kContainer},
    {"CNI_CONTAINERID", "a:b", 4, "CNI_CONTAINERID is \"a:b" + kContainer},
    {"CNI_CONTAINERID", "", 4, "ADD needs variables that are missing: CNI_CONTAINERID"},
    {"CNI_IFNAME", "../../net1", 4, "CNI_IFNAME is \"../../net1" + kIfname},
    {"CNI_IFNAME", "sixteen-letters-", 4, "CNI_IFNAME is \"sixteen-letters-" + kIfname},
    {"CNI_IFNAME", "a:b", 4, "CNI_IFNAME is \"a:b" + kIfname},
    {"CNI_IFNAME", "..", 4, "CNI_IFNAME is \".." + kIfname},
    {"CNI_IFNAME", "eth0", 102, "CNI_IFNAME: the pod already has an interface eth0"},
    {"CNI_NETNS", "run/netns/pod", 4,
     "CNI_NETNS is \"run/netns/pod\": expected an absolute path without \"..\""},
    {"CNI_NETNS", "/run/../proc/1/ns/net", 4,
     "CNI_NETNS is \"/run/../proc/1/ns/net\": expected an absolute path without \"..\""},
    {"CNI_NETNS", "/run/netns/gone", 3,
     "CNI_NETNS: there is no network namespace at /run/netns/gone"},
    {"CNI_NETNS", "/proc/self/ns/net", 4,
     "CNI_NETNS: /proc/self/ns/net is the host's own network namespace: a pod with hostNetwork "
     "needs "
     "no attachment"},
    {"CNI_ARGS", "K8S_POD_NAME", 4,
     "CNI_ARGS is \"K8S_POD_NAME\": expected KEY=VALUE pairs separated by ';'; "
     "\"K8S_POD_NAME\" "
     "is not one"},
    {"CNI_COMMAND", "REMOVE", 4,
     "CNI_COMMAND is \"REMOVE\": expected ADD, DEL, CHECK, GC, STATUS or VERSION"},
};

TEST_CASE("bad input is refused with its code and its reason, and changes nothing") {
  MESSAGE(kBad.size() << " bad inputs");
  for (const attach::BadInput& bad : kBad) {
    Fixture fixture;
    expect_refused(fixture, bad, kDevice);
  }
}

}  // namespace
}  // namespace ibpod::ib_sriov
