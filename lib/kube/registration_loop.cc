#include "lib/kube/registration_loop.h"

#include "lib/base/resource_name.h"
#include "lib/rpc/unix_address.h"

namespace ibpod::kube {
namespace {

// No attempt is due; a day is as good as for ever.
constexpr Duration kForever{std::chrono::hours(24)};

Path folder_of(const Path& root, Mode mode) {
  return root / (mode == Mode::watcher ? "plugins_registry" : "device-plugins");
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
  attempt_.reset();
}

Status DevicePlugin::RegistrationLoop::attempt() {
  attempt_.reset();
  const Mode mode = resolve(kubelet_);
  state_.begin(mode);
  attempt_.emplace(RegistrationAttempt::Deps{state_, service_}, resource_, mode,
                   folder_of(kubelet_.root, mode));
  return attempt_->begin(options_);
}

void DevicePlugin::RegistrationLoop::await_next_attempt() {
  const Deadline soonest = Deadline::in(kubelet_.retry.first);
  Deadline due = Deadline::in(kubelet_.retry.quiet);
  std::optional<Deadline> settled;
  bool failed = false;
  while (!stopping_ && !due.passed()) {
    attempt_->wait(due);
    const bool in_place = attempt_->is_in_place();
    if (state_.registered() && in_place) {
      if (!settled) settled = Deadline::in(kubelet_.retry.most);
      due = Deadline::in(kForever);
      failed = false;
    } else if (!failed && (state_.failed() || !in_place)) {
      if (settled && settled->passed()) back_off_.reset();
      due = Deadline::in(back_off_.next());
      failed = true;
    }
    if (attempt_->kubelet_was_replaced()) due = due.at_most(soonest.left());
  }
}

}  // namespace ibpod::kube
