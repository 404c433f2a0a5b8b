#include "lib/kube/registration_loop.h"

#include "lib/base/resource_name.h"
#include "lib/kube/messages.h"
#include "lib/rpc/unix_address.h"

#include <array>

#include <poll.h>

namespace ibpod::kube {
namespace {

constexpr Duration kGrace{300};
// No attempt is due; a day is as good as for ever.
constexpr Duration kForever{std::chrono::hours(24)};

Path folder_of(const Path& root, Mode mode) {
  return root / (mode == Mode::watcher ? "plugins_registry" : "device-plugins");
}

// A domain has no "_", so no two resources share a name.
std::string socket_name(std::string resource) {
  resource.replace(resource.find('/'), 1, "_");
  return resource + ".sock";
}

Mode resolve(const KubeletOptions& kubelet) {
  if (kubelet.mode != Mode::automatic) return kubelet.mode;
  std::error_code ignored;
  const Path registry = folder_of(kubelet.root, Mode::watcher);
  return std::filesystem::is_directory(registry, ignored) ? Mode::watcher : Mode::legacy;
}

}  // namespace

DevicePlugin::RegistrationLoop::RegistrationLoop(Resource& resource, KubeletOptions kubelet,
                                                 Wake wake)
    : resource_(resource.name()),
      options_(resource.options()),
      kubelet_(std::move(kubelet)),
      state_(std::move(wake), kubelet_.on_change),
      service_(resource, state_),
      back_off_(kubelet_.retry.first, kubelet_.retry.most) {}

Status DevicePlugin::RegistrationLoop::check() const {
  TRY(check_resource(resource_).during("resource name"));
  if (!kubelet_.root.is_absolute()) {
    return Error(Code::invalid, "kubelet root \"" + kubelet_.root.string() + "\" is not absolute");
  }
  for (const Mode mode : {Mode::watcher, Mode::legacy}) {
    const bool used = kubelet_.mode == mode || kubelet_.mode == Mode::automatic;
    const Path hidden = folder_of(kubelet_.root, mode) / ("." + socket_name(resource_));
    if (used) TRY(rpc::unix_address(hidden));
  }
  return ok();
}

void DevicePlugin::RegistrationLoop::start() {
  thread_ = std::thread([this] { run(); });
}

void DevicePlugin::RegistrationLoop::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  state_.wake().ring();
  thread_.join();
}

void DevicePlugin::RegistrationLoop::run() {
  while (!stopping_) {
    const Status begun = attempt();
    if (!begun) state_.refused(begun.error());
    await_next_attempt();
  }
  withdraw();
}

// A new socket each time: that is what makes a plugin watcher look again.
Status DevicePlugin::RegistrationLoop::attempt() {
  withdraw();
  mode_ = resolve(kubelet_);
  state_.begin(mode_);
  const Path folder = folder_of(kubelet_.root, mode_);
  watch_ = TRY(FolderWatch::open(folder));
  kubelet_socket_ = folder / "kubelet.sock";
  kubelet_seen_ = FileIdentity::of(kubelet_socket_);
  TRY(serve(folder / socket_name(resource_)));
  return mode_ == Mode::legacy ? register_legacy() : ok();
}

Status DevicePlugin::RegistrationLoop::serve(const Path& socket) {
  service_.streams().allow();
  std::vector<grpc::Service*> services{&service_};
  if (mode_ == Mode::watcher) {
    services.push_back(&watcher_.emplace(resource_, socket, state_));
  }
  server_ = TRY(rpc::Server::serve(socket, services));
  return ok();
}

// The server answers already: the kubelet calls back before it answers itself.
Status DevicePlugin::RegistrationLoop::register_legacy() {
  v1beta1::RegisterRequest request;
  request.set_version("v1beta1");
  request.set_endpoint(socket_name(resource_));
  request.set_resource_name(resource_);
  *request.mutable_options() = options_message(options_);
  call_ = TRY(RegisterCall::start(kubelet_socket_, std::move(request), state_));
  return ok();
}

void DevicePlugin::RegistrationLoop::withdraw() {
  call_.reset();
  service_.streams().end();
  if (server_) server_->stop(kGrace);
  server_.reset();
  watcher_.reset();
  watch_.reset();
}

void DevicePlugin::RegistrationLoop::await_next_attempt() {
  const Deadline soonest = Deadline::in(kubelet_.retry.first);
  Deadline due = Deadline::in(kubelet_.retry.quiet);
  std::optional<Deadline> settled;
  bool failed = false;
  while (!stopping_ && !due.passed()) {
    wait(due);
    const bool in_place = server_ && server_->in_place();
    if (state_.registered() && in_place) {
      if (!settled) settled = Deadline::in(kubelet_.retry.most);
      due = Deadline::in(kForever);
      failed = false;
    } else if (!failed && (state_.failed() || !in_place)) {
      if (settled && settled->passed()) back_off_.reset();
      due = Deadline::in(back_off_.next());
      failed = true;
    }
    if (kubelet_was_replaced()) due = due.at_most(soonest.left());
  }
}

// True if another kubelet listens than the one that was called.
bool DevicePlugin::RegistrationLoop::kubelet_was_replaced() const {
  if (mode_ != Mode::legacy) return false;
  const std::optional<FileIdentity> now = FileIdentity::of(kubelet_socket_);
  return now && now != kubelet_seen_;
}

// Until the kubelet has said something, the folder has changed, or stop().
void DevicePlugin::RegistrationLoop::wait(Deadline deadline) {
  const Wake& wake = state_.wake();
  std::array<pollfd, 2> waiting{{{wake.fd(), POLLIN, 0}, {watch_ ? watch_->fd() : -1, POLLIN, 0}}};
  ::poll(waiting.data(), waiting.size(), static_cast<int>(deadline.left().count()));
  wake.drain();
  // An error of the watch shows in what is looked at next, or not at all.
  if (waiting[1].revents != 0) (void)watch_->wait(Deadline::in(Duration(0)));
}

}  // namespace ibpod::kube
