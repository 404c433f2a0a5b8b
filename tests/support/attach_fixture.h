// A node, a pod and a state folder, and the plugins of a network beside them: what the tests of the
// verbs work on.
#pragma once

#include "lib/attach/ipoib_driver.h"
#include "lib/attach/verbs.h"
#include "lib/attach/vf_driver.h"
#include "tests/support/fake_agent.h"
#include "tests/support/fake_binder.h"
#include "tests/support/fake_kernel.h"
#include "tests/support/temp_folder.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ibpod::attach {

inline const ib::PciAddress kVf = fake::vf_address(0, 0);
inline const Path kPod = "/run/netns/pod";
inline const Path kOwn = "/proc/self/ns/net";
inline const node::Guids kSpecGuids{ib::Guid(0x0200000000000a01), ib::Guid(0x0200000000000a01)};

// An IPAM plugin in shell: a lease is a file. The commands in `hook` run first; $VERB, $KEY and
// $HERE say where.
inline std::string lease_script(const std::string& versions, const std::string& hook) {
  return R"(HERE=${0%/*}; VERB=$CNI_COMMAND; KEY=$CNI_CONTAINERID:$CNI_IFNAME
if [ "$VERB" = VERSION ]; then
  echo '{"cniVersion":"1.1.0","supportedVersions":[)" +
         versions + R"(]}'; exit 0
fi
cat > "$HERE/input"
echo "$VERB $KEY $CNI_NETNS" >> "$HERE/calls"
)" + hook +
         R"(
case $VERB in
ADD) : > "$HERE/lease-$KEY"
  echo '{"cniVersion":"1.0.0","ips":[{"address":"10.1.2.3/24","gateway":"10.1.2.1"}],"routes":[{"dst":"0.0.0.0/0"}]}' ;;
DEL) rm -f "$HERE/lease-$KEY" ;;
esac)";
}

// Its log is what the verbs have said.
struct Fixture : CallLog {
  fake::FakeKernel k;
  TempFolder state;
  TempFolder programs;
  node::Records records{state.path()};
  std::string boot_id = "this-boot";
  std::vector<std::string> warnings, achievements;
  std::string configuration;
  cni::Call call;
  cni::Network network;
  VfConfig vf_config;
  std::optional<IpoibConfig> child;  // instead of the VF
  Duration timeout{30'000};
  Settings settings;
  // Instead of an agent with the binder.
  std::function<std::unique_ptr<nodeapi::Node>()> connect;
  fake::State before;
  fake::FakeBinder binder{k, state.path()};
  bool needs_agent = false, without_service = false, sm_managed = false;

  explicit Fixture(bool ipam = true) {
    k = fake::node_with(1, 2);
    k.state.namespaces[fake::kHostId].path = kOwn;
    k.make_namespace(kPod);
    settings.any_device = true;
    vf_config.device = kVf;
    vf_config.spec.isolation = true;
    vf_config.spec.guids = kSpecGuids;
    set_call(cni::Verb::add, "c1", kPod);
    if (ipam) install_ipam();
    configure(ipam ? R"("ipam":{"type":"lease"})" : R"("dns":{})");
    remember();
  }
  void remember() {
    k.settle();
    before = k.state;
  }
  void install_ipam(const std::string& hook = "", const std::string& versions = R"("1.0.0")") {
    programs.script("lease", lease_script(versions, hook));
  }
  void configure(const std::string& keys, const std::string& name = "blue") {
    configuration =
        R"({"cniVersion":"1.0.0","type":"ib-sriov","name":")" + name + "\"," + keys + "}";
    network = cni::parse_network(cni::parse_document(configuration).value(), configuration).value();
  }
  // Sets the verb and the attachment of the next call.
  void set_call(cni::Verb verb, const std::string& container, const Path& netns,
                const std::string& ifname = "net1") {
    const cni::Environment environment{{"CNI_COMMAND", std::string(cni::name(verb))},
                                       {"CNI_CONTAINERID", container},
                                       {"CNI_NETNS", netns.string()},
                                       {"CNI_IFNAME", ifname},
                                       {"CNI_PATH", programs.path().string()},
                                       {"PATH", "/usr/bin:/bin"}};
    call = cni::parse_call(environment).value();
    vf_config.spec.ifname = ifname;
  }
  Context context() { return context(k); }
  Context context(node::Kernel& kernel) {
    settings.state_folder = state.path();
    settings.agent_socket = needs_agent || sm_managed ? Path(kAgentSocket) : Path();
    const auto agent = [this](const Path&) { return connect ? connect() : agent_with_binder(); };
    return {.request = {child ? "ipoib" : "ib-sriov", call, network, settings},
            .host = {.kernel = kernel,
                     .records = records,
                     .boot_id = boot_id,
                     .agent = AgentClient(AgentRequiredFile(state.path()), settings, agent)},
            .log = *this};
  }
  std::unique_ptr<nodeapi::Node> agent_with_binder() {
    auto agent = std::make_unique<fake::FakeAgent>();
    if (!without_service) agent->binder = &binder;
    return agent;
  }
  void warn(const std::string& text) override { warnings.push_back(text); }
  void inform(const std::string& text) override { achievements.push_back(text); }
  void step(const node::Step&) override {}
  void name_device(const std::string&) override {}
  // An order for a child instead of a VF.
  IpoibConfig& configure_child(const std::string& master) {
    child.emplace();
    child->master = master;
    child->spec.ifname = call.ifname;
    return *child;
  }
  std::unique_ptr<AttachmentDriver> driver() const {
    if (child) return std::make_unique<IpoibDriver>(*child);
    return std::make_unique<VfDriver>(vf_config);
  }
  Result<cni::AddResult> add() { return attach::add(context(), *driver(), Deadline::in(timeout)); }
  Status del() {
    set_call(cni::Verb::del, call.container_id, call.netns, call.ifname);
    return attach::del(context(), driver()->folder(call), Duration(60'000));
  }
  Status gc() { return attach::gc(context(), *driver(), Deadline::in(Duration(60'000))); }
  Status check() { return attach::check(context(), *driver(), timeout); }
  std::string changes() const { return fake::diff(before, k.state); }
  // The calls of IPAM but VERSION, the leases it has given, and the records.
  std::vector<std::string> ipam_calls() const {
    std::vector<std::string> calls;
    const Result<std::string> text = read_file(programs.path() / "calls");
    for (size_t start = 0; text && start < text->size();) {
      const size_t end = text->find('\n', start);
      calls.push_back(text->substr(start, end - start));
      start = end + 1;
    }
    return calls;
  }
  std::vector<std::string> leases() const {
    std::vector<std::string> files = list_folder(programs.path()).value();
    std::erase_if(files, [](const std::string& file) { return !file.starts_with("lease-"); });
    return files;
  }
  std::vector<std::string> recorded() const {
    std::vector<std::string> names;
    const auto all = records.all().value();
    for (const node::RecordName& name : all) names.push_back(name.text());
    return names;
  }
  // The addresses that IPAM still has to release.
  std::vector<std::string> owed() const {
    std::vector<std::string> names;
    const auto all = records.address_releases().all().value();
    for (const node::AddressReleaseName& name : all)
      names.push_back(name.container_id + ":" + name.ifname);
    return names;
  }
  // The remains of an attachment, one a line; empty: everything is as before.
  std::string leftovers() const {
    std::string text = changes();
    for (const std::string& lease : leases()) text += "+ " + lease + "\n";
    for (const std::string& name : recorded()) text += "+ record " + name + "\n";
    for (const std::string& name : owed()) text += "+ owed " + name + "\n";
    text += binder.leftovers();
    const auto files = list_folder(state.path() / "attachments");
    for (const std::string& file : files.value()) {
      if (recorded().empty()) text += "+ folder " + file + "\n";
    }
    const auto folders = list_folder(state.path() / "addresses");
    for (const std::string& folder : folders.value()) text += "+ folder " + folder + "\n";
    return text;
  }
  Path record_file(const std::string& container = "c1") const {
    return state.path() / "attachments" / kVf.text() / (container + ":net1.json");
  }
};

}  // namespace ibpod::attach
