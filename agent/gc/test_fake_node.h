// A node as a sweep sees it: pods that come and go, their namespaces, a kubelet that may not
// answer, and a plugin that may fail. What is true of a pod and what is seen of it are kept apart.
#pragma once

#include "agent/gc/garbage_collector.h"
#include "tests/support/temp_folder.h"

#include <map>
#include <set>

namespace ibpod::agent::gc::test {

// Thrown out of whatever the agent is just asking: it is killed there.
struct AgentKilled {};

struct FakePod {
  node::Record record;
  bool alive = true;
  std::string text;  // of the record on disk
};

class FakeNode : public Namespaces, public Pods, public Sandboxes, public Plugins, public Strays {
 public:
  enum class Kubelet { right, empty, silent, half };
  enum class Runtime { right, silent };

  TempFolder state;
  node::Records records{state.path()};
  std::string boot = "boot-1";
  std::map<std::string, FakePod> pods;  // by container
  std::map<Path, netns::Identity> paths;
  std::set<Path> plain_files;       // what is left of bind mounts
  std::set<std::string> lingering;  // dead pods that the kubelet still names
  bool propagated = true;           // false: all paths look like plain files
  Kubelet kubelet = Kubelet::right;
  Runtime runtime = Runtime::right;
  std::string failure;  // of the plugin
  std::vector<std::string> strays;
  std::set<std::string> ipam_fails;  // for these containers
  bool del_has_no_effect = false;    // its success does nothing
  int steps_to_live = -1;  // how many questions and orders until the agent is killed; -1: for ever
  std::function<void()> before_del = [] {};
  std::vector<std::string> dels;  // the containers of the calls
  int kubelet_asked = 0;

  GcDeps gc_deps(bool with_kubelet = true, bool with_runtime = false) {
    return {records,
            boot,
            *this,
            with_kubelet ? static_cast<Pods*>(this) : nullptr,
            with_runtime ? static_cast<Sandboxes*>(this) : nullptr,
            *this,
            this};
  }

  // An ADD that has come to its end.
  FakePod& start(const std::string& container, const std::string& device, const std::string& name,
                 const Path& path) {
    FakePod pod;
    pod.record.plugin = "ib-sriov";
    pod.record.attempt = "attempt-" + std::to_string(++count_);
    pod.record.network = "blue";
    pod.record.container_id = container;
    pod.record.ifname = "net1";
    pod.record.pod = {"ns", name, "uid-" + container};
    pod.record.device = ib::PciAddress::parse(device).value();
    pod.record.netns = {path, {4, 4026530000 + (count_ % 7), count_}};
    pod.record.boot_id = boot;
    paths[path] = pod.record.netns.identity;
    plain_files.erase(path);
    write(pod);
    return pods.insert_or_assign(container, pod).first->second;
  }
  void write(FakePod& pod) {
    pod.text = node::text_of(pod.record);
    put(pod.record, pod.text);
  }
  void remove(const node::Record& record) { std::filesystem::remove(file(node::name_of(record))); }
  void damage(const FakePod& pod) { put(pod.record, "{"); }

  // Its processes and namespace end, without a DEL.
  void kill(FakePod& pod) {
    pod.alive = false;
    const auto path = paths.find(pod.record.netns.path);
    if (path != paths.end() && path->second == pod.record.netns.identity) paths.erase(path);
  }

  std::vector<std::string> recorded() const {
    std::vector<std::string> containers;
    const auto names = records.all().value();
    for (const node::RecordName& name : names) containers.push_back(name.container_id);
    return containers;
  }
  std::optional<std::string> text_on_disk(const node::Record& record) const {
    const Result<std::string> text = read_file(file(node::name_of(record)));
    return text ? std::optional(*text) : std::nullopt;
  }

  Result<netns::NetnsStatus> status_of(const node::Namespace& recorded) override {
    step();
    if (!propagated || plain_files.contains(recorded.path)) return netns::NetnsStatus::unclear;
    const auto found = paths.find(recorded.path);
    const bool same = found != paths.end() && found->second == recorded.identity;
    return same ? netns::NetnsStatus::same : netns::NetnsStatus::gone;
  }

  Result<std::vector<PodDevices>> list_pods() override {
    step();
    ++kubelet_asked;
    if (kubelet == Kubelet::silent) return Error(Code::unavailable, "pod-resources: refused");
    std::vector<PodDevices> list;
    if (kubelet == Kubelet::empty) return list;
    list.push_back({"kube-system", "proxy", {}});
    for (const auto& [container, pod] : pods) {
      const bool left_out = kubelet == Kubelet::half && list.size() % 2 == 1;
      const bool named = pod.alive || lingering.contains(container);
      if (!left_out && named)
        list.push_back(
            {pod.record.pod.name_space, pod.record.pod.name, {pod.record.device.text()}});
    }
    return list;
  }

  Result<std::vector<std::string>> list_sandboxes() override {
    step();
    if (runtime == Runtime::silent) return Error(Code::unavailable, "CRI: refused");
    std::vector<std::string> ids;
    for (const auto& [container, pod] : pods) {
      if (pod.alive) ids.push_back(container);
    }
    return ids;
  }

  Status del(const node::Record& record) override {
    step();
    dels.push_back(record.container_id);
    before_del();
    if (!failure.empty()) return Error(Code::internal, failure);
    const Result<node::Record> now = records.read(node::name_of(record));
    // As lib/attach/release.h has it: this attempt and no other.
    const bool meant = now && now->attempt == record.attempt;
    if (meant && !del_has_no_effect) {
      TRY(records.address_releases().write(record));
      step();
      std::filesystem::remove(file(node::name_of(record)));
    }
    step();
    return release_addresses(record);
  }

  Status release_addresses(const node::Record& record) {
    if (ipam_fails.contains(record.container_id)) return Error(Code::unavailable, "IPAM hangs");
    const auto folder = record.container_id + ":" + record.ifname;
    std::filesystem::remove(state.path() / "addresses" / folder / (record.attempt + ".json"));
    step();
    return ok();
  }
  std::vector<std::string> address_releases() const {
    std::vector<std::string> containers;
    const auto names = records.address_releases().all().value();
    for (const node::AddressReleaseName& name : names) containers.push_back(name.container_id);
    return containers;
  }

  Status collect(const node::RecordName& damaged, const std::vector<node::RecordName>&) override {
    step();
    if (pods.at(damaged.container_id).alive) return Error(Code::busy, "a pod may still have it");
    std::filesystem::remove(file(damaged));
    step();
    return ok();
  }

  Result<std::vector<std::string>> list_strays() override { return strays; }
  Status remove_strays(const std::vector<node::RecordName>&) override {
    if (!failure.empty()) return Error(Code::internal, failure);
    strays.clear();
    return ok();
  }

 private:
  void step() {
    if (steps_to_live == 0) throw AgentKilled{};
    if (steps_to_live > 0) --steps_to_live;
  }
  Path file(const node::RecordName& name) const {
    return state.path() / "attachments" / name.folder /
           (name.container_id + ":" + name.ifname + ".json");
  }
  void put(const node::Record& record, const std::string& text) {
    const Path path = file(node::name_of(record));
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  uint64_t count_ = 0;
};

}  // namespace ibpod::agent::gc::test
