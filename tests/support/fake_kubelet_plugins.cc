#include "lib/base/folder_watch.h"
#include "lib/rpc/status.h"
#include "tests/support/fake_kubelet.h"

#include <array>

#include <poll.h>

namespace ibpod {
namespace {

// How soon the watcher meets a plugin again that it could not talk to.
constexpr int kAgainMs = 200;
constexpr std::string_view kHidden = ".";

void set_limit(grpc::ClientContext& context, int seconds) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(seconds));
  context.set_wait_for_ready(true);
}

kube::Device device_of(const v1beta1::Device& message) {
  kube::Device device{message.id(), message.health() == "Healthy"};
  if (message.topology().nodes_size() > 0) {
    device.numa = static_cast<int>(message.topology().nodes(0).id());
  }
  return device;
}

Error unknown(const std::string& resource) {
  return {Code::not_found, "no endpoint of " + resource};
}

}  // namespace

grpc::Status FakeKubelet::admit(const std::string& resource, const Path& socket) {
  if (refuses()) return {grpc::StatusCode::UNKNOWN, "refused by the test"};
  const auto connection = std::make_shared<FakeEndpoint>(socket);
  grpc::ClientContext context;
  set_limit(context, 10);
  v1beta1::DevicePluginOptions options;
  const grpc::Status asked =
      connection->stub().GetDevicePluginOptions(&context, v1beta1::Empty(), &options);
  if (!asked.ok()) return asked;
  std::shared_ptr<FakeEndpoint> last;  // it ends after the lock is released
  const std::lock_guard lock(mutex_);
  Plugin& plugin = plugins_[resource];
  last = take(plugin);
  plugin.endpoint = connection;
  plugin.seen.listening = true;
  plugin.seen.options = {options.pre_start_required(),
                         options.get_preferred_allocation_available()};
  ++plugin.seen.registrations;
  const FakeEndpoint* from = connection.get();
  connection->listen([=, this](const auto& list) { take_list(resource, from, list); },
                     [=, this] { take_end(resource, from); });
  changed_.notify_all();
  return grpc::Status::OK;
}

void FakeKubelet::take_list(const std::string& resource, const FakeEndpoint* from,
                            const FakeEndpoint::List& list) {
  const std::lock_guard lock(mutex_);
  Plugin& plugin = plugins_[resource];
  if (plugin.endpoint.get() != from) return;
  plugin.seen.devices.clear();
  for (const v1beta1::Device& device : list.devices()) {
    plugin.seen.devices.push_back(device_of(device));
  }
  plugin.seen.list_sizes.push_back(plugin.seen.devices.size());
  changed_.notify_all();
}

void FakeKubelet::take_end(const std::string& resource, const FakeEndpoint* from) {
  const std::lock_guard lock(mutex_);
  Plugin& plugin = plugins_[resource];
  if (plugin.endpoint.get() == from) plugin.seen.listening = false;
  changed_.notify_all();
}

// Until stop().
void FakeKubelet::watch_plugins() {
  met_.clear();
  FolderWatch watch = FolderWatch::open(root() / "plugins_registry").value();
  std::array<pollfd, 2> waiting{{{stopping_->fd(), POLLIN, 0}, {watch.fd(), POLLIN, 0}}};
  while (waiting[0].revents == 0) {
    const bool all_met = meet_plugins();
    ::poll(waiting.data(), waiting.size(), all_met ? -1 : kAgainMs);
    if (waiting[1].revents != 0) (void)watch.wait(Deadline::in(Duration(0)));  // looked at anyway
  }
}

// Sockets that are gone are forgotten, new ones met.
bool FakeKubelet::meet_plugins() {
  bool all_met = true;
  const Path folder = root() / "plugins_registry";
  std::map<std::string, kube::FileIdentity> met;
  for (const std::string& name : list_folder(folder).value()) {
    const auto identity = kube::FileIdentity::of(folder / name);
    if (name.starts_with(kHidden) || !identity) continue;
    const auto known = met_.find(name);
    const bool is_known = known != met_.end() && known->second == *identity;
    if (is_known || meet(folder / name)) {
      met.emplace(name, *identity);
    } else {
      all_met = false;
    }
  }
  met_ = std::move(met);
  return all_met;
}

bool FakeKubelet::meet(const Path& socket) {
  const auto stub = pluginregistration::Registration::NewStub(dial_plugin(socket));
  grpc::ClientContext asking;
  set_limit(asking, 1);
  pluginregistration::PluginInfo info;
  if (!stub->GetInfo(&asking, {}, &info).ok()) return false;
  const bool speaks = info.type() == "DevicePlugin" && info.supported_versions_size() == 1 &&
                      info.supported_versions(0) == "v1beta1";
  const grpc::Status admitted = speaks ? admit(info.name(), info.endpoint())
                                       : grpc::Status(grpc::StatusCode::UNKNOWN, "no such plugin");
  pluginregistration::RegistrationStatus status;
  status.set_plugin_registered(admitted.ok());
  status.set_error(admitted.error_message());
  grpc::ClientContext telling;
  set_limit(telling, 5);
  pluginregistration::RegistrationStatusResponse answer;
  return stub->NotifyRegistrationStatus(&telling, status, &answer).ok();
}

std::shared_ptr<FakeEndpoint> FakeKubelet::endpoint(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  const auto found = plugins_.find(resource);
  return found == plugins_.end() ? nullptr : found->second.endpoint;
}

Result<v1beta1::ContainerAllocateResponse> FakeKubelet::allocate(const std::string& resource,
                                                                 const kube::DeviceIds& ids) {
  const auto connection = endpoint(resource);
  if (!connection) return unknown(resource);
  v1beta1::AllocateRequest request;
  request.add_container_requests()->mutable_devices_ids()->Assign(ids.begin(), ids.end());
  v1beta1::AllocateResponse answer;
  grpc::ClientContext context;
  TRY(rpc::from_grpc(connection->stub().Allocate(&context, request, &answer)));
  if (answer.container_responses_size() != 1) return Error(Code::internal, "not one response");
  return answer.container_responses(0);
}

Result<kube::DeviceIds> FakeKubelet::prefer(const std::string& resource,
                                            const kube::DeviceIds& available,
                                            const kube::DeviceIds& must_include, int size) {
  const auto connection = endpoint(resource);
  if (!connection) return unknown(resource);
  v1beta1::PreferredAllocationRequest request;
  auto& container = *request.add_container_requests();
  container.mutable_available_deviceids()->Assign(available.begin(), available.end());
  container.mutable_must_include_deviceids()->Assign(must_include.begin(), must_include.end());
  container.set_allocation_size(size);
  v1beta1::PreferredAllocationResponse answer;
  grpc::ClientContext context;
  TRY(rpc::from_grpc(connection->stub().GetPreferredAllocation(&context, request, &answer)));
  if (answer.container_responses_size() != 1) return Error(Code::internal, "not one response");
  const auto& preferred = answer.container_responses(0).deviceids();
  return kube::DeviceIds(preferred.begin(), preferred.end());
}

Status FakeKubelet::pre_start(const std::string& resource, const kube::DeviceIds& ids) {
  const auto connection = endpoint(resource);
  if (!connection) return unknown(resource);
  v1beta1::PreStartContainerRequest request;
  request.mutable_devices_ids()->Assign(ids.begin(), ids.end());
  v1beta1::PreStartContainerResponse answer;
  grpc::ClientContext context;
  set_limit(context, 30);
  return rpc::from_grpc(connection->stub().PreStartContainer(&context, request, &answer));
}

}  // namespace ibpod
