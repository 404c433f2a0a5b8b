// From ib-kubernetes to ibpod-sm and back, as docs/from-ib-kubernetes.md has it, while pods run: a
// real OpenSM enforces what UFM has, and no port of a running pod ever lacks its P_Key.
#include "lib/ib/hex.h"
#include "lib/json/value.h"
#include "tests/fabric/engine/raw_opensm.h"
#include "tests/fabric/sm/sm_fixture.h"
#include "tests/fabric/ufm/process/ufm_process.h"
#include "tests/support/in_time.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <httplib.h>

namespace ibpod {
namespace {

using json::Value;

// The nodes with an agent are n1 and n2; the pods of ib-kubernetes are on h3 to h5.
constexpr unsigned kNewNode = 1, kSecondNode = 2;
constexpr const char* kIbKubernetes = "ib-kubernetes";

template <typename T>
T must(Result<T> result) {
  if (!result) FAIL(result.error().text());
  return std::move(result).value();
}

Value parse(const std::string& text) { return must(Value::parse(text)); }

struct Ufm {
  RawOpenSm opensm;
  UfmProcess ufm{{.partitions = opensm.partitions(),
                  .opensm = opensm.pid(),
                  .ports = {guid_of(kNewNode)},
                  .others = {kIbKubernetes}}};
};

struct Takeover : Ufm, SmFixture {
  Takeover() : SmFixture(Unstarted{}, {.hosts = 2}) {}

  // --- ib-kubernetes: the calls of its plugin for UFM, which come when its pods start and end
  void ib_kubernetes_adds(unsigned host, unsigned pkey) {
    send("/ufmRest/resources/pkeys",
         R"({"pkey":"0x)" + ib::hex(pkey, 4) + R"(","guids":[")" + guid(host) +
             R"("],"membership":"full","index0":true,"ip_over_ib":true})");
    running[host] = ib::PKey(static_cast<uint16_t>(0x8000 | pkey));
    REQUIRE(in_time([&] { return pods_hold(); }));
  }
  void ib_kubernetes_removes(unsigned host, unsigned pkey) {
    running.erase(host);
    send("/ufmRest/actions/remove_guids_from_pkey",
         R"({"pkey":"0x)" + ib::hex(pkey, 4) + R"(","guids":[")" + guid(host) + "\"]}");
  }

  // --- the steps of the page
  // Step 2: the converted configuration, with a user of its own, and the CA of UFM.
  void convert() {
    files_.write("variables",
                 "DAEMON_SM_PLUGIN=ufm\nUFM_USERNAME=ib-kubernetes\n"
                 "UFM_PASSWORD=" +
                     std::string(kUfmPassword) +
                     "\nUFM_ADDRESS=127.0.0.1\nUFM_PORT=" + std::to_string(ufm.tls_port()) +
                     "\nGUID_POOL_RANGE_START=02:00:00:00:00:00:00:00\n"
                     "GUID_POOL_RANGE_END=02:FF:FF:FF:FF:FF:FF:FF\n");
    const Path program = std::filesystem::canonical("/proc/self/exe").parent_path() / "ibpodctl";
    sh(program.string() +
       " convert ib-kubernetes variables --pkeys 0x1000-0x10ff"
       " --guids 0x0600000000000001-0x060000000000ffff --secrets ufm >converted.json");
    setup().ufm =
        inner(jq(".ufm + {user: \"ibpod\", passwordFile: \"" + ufm.password_file().string() +
                 "\", caFile: \"" + ufm.ca().string() + "\", readSeconds: 5, effectSeconds: 1}"));
    setup().pkeys = jq(".pkeys");
    setup().more = inner(jq("{guids, defaults}"));
  }
  // Step 6: the declared partitions, by the program of the page.
  void declare() {
    files_.write("stopped.json", rest().Get("/ufmRest/resources/pkeys?guids_data=true")->body);
    files_.write("tenants.json", R"({"0x5": {"name": "blue", "allowed": ["*"]},
                                       "0x6": {"name": "green", "allowed": ["*"]}})");
    files_.write("partitions.jq", program_of_page());
    sh("jq --slurpfile tenants tenants.json --arg first 0200000000000000"
       " --arg last 02ffffffffffffff -f partitions.jq stopped.json >new.json && "
       "mv new.json partitions.json");
  }
  void take_over() {
    setup().pkeys = jq(R"(.pkeys + [{"first": "0x0001", "last": "0x0fff", "use": "explicit"}])");
    setup().more +=
        ", \"declaredPartitions\": \"" + (files_.path() / "partitions.json").string() + "\"";
    end();
    launch();
    REQUIRE(serves());
    wait([this] { return is_healthy(); });
  }

  // Step 7: a pod of ib-kubernetes has ended.
  void take_out(unsigned host) {
    running.erase(host);
    sh("jq '.partitions[].members |= map(select(.guid != \"0x" + guid(host) +
       "\"))' partitions.json >new.json && mv new.json partitions.json");
  }

  // Until it is so, while no pod loses its partition.
  void wait(const std::function<bool()>& so) {
    until([&] {
      REQUIRE(pods_hold());
      return so();
    });
    REQUIRE(pods_hold());
  }
  // Each running pod's port has its P_Key, at index 0 as ib-kubernetes asks for.
  bool pods_hold() {
    const std::vector<ib::PKeyTable> tables = subnet.tables();
    return std::all_of(running.begin(), running.end(), [&](const auto& pod) {
      return !tables.at(pod.first).empty() && tables.at(pod.first).front() == pod.second;
    });
  }
  bool holds(unsigned host, uint16_t key) {
    const ib::PKeyTable keys = table(host);
    return std::find(keys.begin(), keys.end(), ib::PKey(key)) != keys.end();
  }
  bool is_ready(const std::string& name) const {
    const auto listed = client().list_partitions({}, deadline_in());
    if (!listed) return false;
    return std::any_of(listed->items.begin(), listed->items.end(), [&](const auto& partition) {
      return partition.spec.name == name && partition.state == fabric::PartitionState::ready;
    });
  }
  std::string findings() const {
    std::string text;
    const auto health = client().health(deadline_in());
    REQUIRE(health);
    for (const auto& finding : health->findings()) text += finding.text() + "\n";
    return text;
  }

  // --- the judge, by the log of fake_ufm
  size_t requests() const { return ufm.log().size(); }
  std::vector<UfmCall> writes(size_t since = 0) const {
    std::vector<UfmCall> calls = ufm.log();
    calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(since));
    std::erase_if(calls, [](const UfmCall& call) { return !call.is_write(); });
    return calls;
  }
  // The P_Keys that this client has written.
  std::set<ib::PKey> written_by(const std::string& caller, size_t since = 0) const {
    std::set<ib::PKey> pkeys;
    for (const UfmCall& call : writes(since))
      if (call.caller == caller) pkeys.insert(call.pkey);
    return pkeys;
  }
  // "0000000000100007 0000000000100009": those that UFM has in a P_Key.
  std::string members(const std::string& pkey) {
    std::string guids;
    const auto partition = parse(ufm.partitions()).find(pkey);
    if (!partition) return guids;
    const auto members = must(must(partition->at("members")).members());
    for (const auto& [guid, member] : members) guids += (guids.empty() ? "" : " ") + guid;
    return guids;
  }
  // The REST interface, as ib-kubernetes.
  httplib::Client rest() const {
    httplib::Client client("127.0.0.1", ufm.plain_port());
    client.set_basic_auth(kIbKubernetes, kUfmPassword);
    return client;
  }
  static std::string guid(unsigned host) { return ib::hex(guid_of(host).value(), 16); }

  std::map<unsigned, ib::PKey> running;  // pods of ib-kubernetes, by the host of their port

 private:
  void send(const char* path, const std::string& body) {
    const auto answer = rest().Post(path, body, "application/json");
    REQUIRE(answer);
    REQUIRE(answer->status == 200);
  }
  void sh(const std::string& command) const {
    auto started = Background::start({.words = {"sh", "-c", command},
                                      .folder = files_.path(),
                                      .environment = {{"LD_PRELOAD", ""}, {"ASAN_OPTIONS", ""}}});
    REQUIRE(started);
    const std::string said = started->output();
    REQUIRE_MESSAGE(started->finish() == 0, said);
  }
  // The result for converted.json.
  std::string jq(const std::string& filter) const {
    files_.write("filter", filter);
    sh("jq -c -f filter converted.json >filtered");
    std::string text = must(read_file(files_.path() / "filtered"));
    while (text.ends_with("\n")) text.pop_back();
    return text;
  }
  static std::string inner(const std::string& object) {
    return object.substr(1, object.size() - 2);
  }
  static std::string program_of_page() {
    const std::string page = must(read_file(IBPOD_PAGE));
    const std::string begin = "cat >partitions.jq <<'END'\n";
    const size_t at = page.find(begin);
    REQUIRE(at != page.npos);
    const size_t from = at + begin.size();
    return page.substr(from, page.find("\nEND\n", from) + 1 - from);
  }
  TempFolder files_;
};

TEST_CASE_FIXTURE(Takeover,
                  "P_Keys are taken over from ib-kubernetes, and given back, while pods run") {
  ib_kubernetes_adds(3, 5);
  ib_kubernetes_adds(4, 5);
  ib_kubernetes_adds(5, 6);
  convert();
  start();
  wait([this] { return is_healthy(); });
  CHECK_MESSAGE(written_by(kUfmUser).empty(), "step 2 changes nothing");

  // Step 4: a partition of ibpod's own, beside those of ib-kubernetes.
  auto training = sample_partition("training");
  training.pkey = ib::PKey(0x1005);
  create_partition(training);
  CHECK(bind(kNewNode, "training") == "verified");
  REQUIRE(pods_hold());
  auto early = sample_partition("early");
  early.pkey = ib::PKey(5);
  CHECK_MESSAGE(!client().create_partition(early, deadline_in()), "it is in no range yet");

  // Step 6: from here on ib-kubernetes makes no call.
  const size_t stopped = requests();
  declare();
  take_over();
  wait([this] { return is_ready("blue") && is_ready("green"); });
  CHECK_MESSAGE(written_by(kUfmUser, stopped).empty(), "each member is desired as UFM has it");
  kill();
  start();
  wait([this] { return is_ready("blue") && is_ready("green"); });
  CHECK(written_by(kUfmUser, stopped).empty());
  CHECK(findings().find("ibpod-sm did not put there") == std::string::npos);

  // New pods on nodes with an agent are in one partition with the running ones.
  CHECK(bind(kSecondNode, "blue") == "verified");
  CHECK(holds(kSecondNode, 0x8005));
  REQUIRE(pods_hold());
  take_out(3);
  wait([this] { return !holds(3, 0x8005); });
  CHECK(members("0x5") == guid(kSecondNode) + " " + guid(4));
  CHECK(written_by(kUfmUser, stopped) == std::set<ib::PKey>{ib::PKey(0x5)});

  // Going back: the bindings end, ibpod-sm is stopped, and its state is moved away.
  CHECK(unbind(kSecondNode) == "released");
  CHECK(unbind(kNewNode) == "released");
  REQUIRE(pods_hold());
  CHECK(client().list_bindings({}, {}, deadline_in())->items.empty());
  end();
  std::filesystem::rename(state_folder(), state_folder().string() + ".moved");
  CHECK(members("0x5") == guid(4));
  CHECK(members("0x6") == guid(5));
  CHECK(members("0x1005").empty());
  REQUIRE(pods_hold());
  const size_t back = requests();
  ib_kubernetes_adds(3, 5);
  ib_kubernetes_removes(4, 5);
  CHECK(in_time([this] { return !holds(4, 0x8005); }));
  REQUIRE(pods_hold());
  CHECK(written_by(kUfmUser, back).empty());
}

TEST_CASE_FIXTURE(Takeover, "a P_Key with a port that is not declared is left alone until it is") {
  ib_kubernetes_adds(3, 5);
  ib_kubernetes_adds(5, 6);
  convert();
  start();
  const size_t stopped = requests();
  declare();
  ib_kubernetes_adds(4, 6);  // it had not been stopped
  take_over();
  wait([&] { return is_ready("blue") && findings().find(guid_of(4).text()) != std::string::npos; });
  CHECK_FALSE(is_ready("green"));
  CHECK(bind(kNewNode, "green", "c1", Duration(3000)) != "verified");
  CHECK(written_by(kUfmUser, stopped).empty());
  declare();
  wait(
      [&] { return is_ready("green") && findings().find(guid_of(4).text()) == std::string::npos; });
  CHECK(bind(kNewNode, "green") == "verified");
  CHECK(written_by(kUfmUser, stopped) == std::set<ib::PKey>{ib::PKey(0x6)});
  CHECK(members("0x6") == guid(kNewNode) + " " + guid(4) + " " + guid(5));
  REQUIRE(pods_hold());
}

TEST_CASE_FIXTURE(Takeover, "both at once on disjoint ranges: neither touches what the other has") {
  convert();
  start();
  auto training = sample_partition("training");
  training.pkey = ib::PKey(0x1005);
  create_partition(training);
  for (unsigned round = 0; round < 3; ++round) {
    CAPTURE(round);
    ib_kubernetes_adds(3, 5);
    CHECK(bind(kNewNode, "training") == "verified");
    ib_kubernetes_adds(4, 6);
    CHECK(bind(kSecondNode, "training") == "verified");
    REQUIRE(pods_hold());
    if (round == 1) {
      kill();
      start();
    }
    ib_kubernetes_removes(3, 5);
    wait([this] { return !holds(3, 0x8005); });
    CHECK(unbind(kNewNode) == "released");
    wait([this] { return holds(kSecondNode, 0x9005); });
    CHECK(unbind(kSecondNode) == "released");
    REQUIRE(pods_hold());
    ib_kubernetes_removes(4, 6);
    wait([this] { return !holds(4, 0x8006); });
  }
  CHECK(written_by(kUfmUser) == std::set<ib::PKey>{ib::PKey(0x1005)});
  CHECK(written_by(kIbKubernetes) == std::set<ib::PKey>{ib::PKey(0x5), ib::PKey(0x6)});
  for (const UfmCall& write : writes()) {
    CAPTURE(write.caller + " " + write.pkey.text());
    CHECK(write.changed);
  }
}

}  // namespace
}  // namespace ibpod
