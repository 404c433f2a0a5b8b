#include "tests/support/fake_kubelet.h"

#include "tests/support/fake_kubelet_services.h"

#include <chrono>

namespace ibpod {
namespace {

constexpr std::chrono::seconds kSoon{30};

}  // namespace

FakeKubelet::FakeKubelet(bool plugin_watcher) : plugin_watcher_(plugin_watcher) {
  for (const char* name : {"device-plugins", "pod-resources"}) {
    std::filesystem::create_directory(root() / name);
  }
  if (plugin_watcher) std::filesystem::create_directory(root() / "plugins_registry");
  start();
}

FakeKubelet::~FakeKubelet() { stop(); }

void FakeKubelet::start() {
  for (const auto& entry : std::filesystem::directory_iterator(root() / "device-plugins")) {
    if (entry.is_socket()) std::filesystem::remove(entry.path());
  }
  registration_ = std::make_unique<Registration>(*this);
  pod_service_ = std::make_unique<Pods>(*this);
  const auto credentials = grpc::InsecureServerCredentials();
  const Path socket = root() / "device-plugins/kubelet.sock";
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket.string(), credentials);
  builder.AddListeningPort("unix:" + pod_resources().string(), credentials);
  builder.RegisterService(registration_.get());
  builder.RegisterService(pod_service_.get());
  server_ = builder.BuildAndStart();
  if (!server_) std::abort();
  if (!plugin_watcher_) return;
  stopping_ = Wake::open().value();
  watcher_ = std::thread([this] { watch_plugins(); });
}

void FakeKubelet::stop() {
  if (!server_) return;
  if (watcher_.joinable()) {
    stopping_->ring();
    watcher_.join();
  }
  server_->Shutdown(std::chrono::system_clock::now());
  server_.reset();
  std::vector<std::shared_ptr<FakeEndpoint>> connections;  // they end after the lock is released
  const std::lock_guard lock(mutex_);
  for (auto& [resource, plugin] : plugins_) connections.push_back(take(plugin));
}

void FakeKubelet::refuse(int times) {
  const std::lock_guard lock(mutex_);
  refusals_ = times;
}

bool FakeKubelet::refuses() {
  const std::lock_guard lock(mutex_);
  if (refusals_ == 0) return false;
  --refusals_;
  return true;
}

void FakeKubelet::hang_up(const std::string& resource) {
  std::shared_ptr<FakeEndpoint> connection;  // it ends after the lock is released
  const std::lock_guard lock(mutex_);
  connection = take(plugins_[resource]);
}

std::shared_ptr<FakeEndpoint> FakeKubelet::take(Plugin& plugin) {
  plugin.seen.listening = false;
  return std::move(plugin.endpoint);
}

PluginSeen FakeKubelet::seen(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  const auto found = plugins_.find(resource);
  return found == plugins_.end() ? PluginSeen() : found->second.seen;
}

bool FakeKubelet::await(const std::string& resource,
                        const std::function<bool(const PluginSeen&)>& wanted) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kSoon, [&] { return wanted(plugins_[resource].seen); });
}

void FakeKubelet::set_pods(::v1::ListPodResourcesResponse pods) {
  const std::lock_guard lock(mutex_);
  pods_ = std::move(pods);
}

void FakeKubelet::refuse_pods(grpc::Status status) {
  const std::lock_guard lock(mutex_);
  pods_status_ = std::move(status);
}

}  // namespace ibpod
