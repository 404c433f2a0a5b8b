#include "agent/kubelet_devices.h"

#include "lib/base/join.h"

#include <cstdlib>

namespace ibpod::agent {
namespace {

kube::Mode mode_of(config::Registration registration) {
  switch (registration) {
    case config::Registration::automatic:
      return kube::Mode::automatic;
    case config::Registration::watcher:
      return kube::Mode::watcher;
    case config::Registration::legacy:
      return kube::Mode::legacy;
  }
  std::abort();
}

}  // namespace

void KubeletDevices::begin(const config::Config& config, std::function<void()> on_change) {
  if (!config.kubelet) return;
  kube::KubeletOptions options{config.kubelet_root, mode_of(config.registration), {}, {}};
  options.on_change = [changed = std::move(on_change)](const kube::Registration&) { changed(); };
  // On gRPC's threads.
  const auto on_allocate = [this](const kubelet::PoolResource::AllocationEvent& event) {
    telemetry_.report_allocation(event.resource, event.granted, event.took);
  };
  resources_.emplace(std::move(options), snapshot_, deps_, on_allocate);
}

void KubeletDevices::serve(const std::set<std::string>& resources) {
  if (resources_) telemetry_.report_condition("serve the pools", resources_->serve(resources));
}

void KubeletDevices::publish(const snapshot::Snapshot& before, const snapshot::Snapshot& now,
                             bool thoroughly) {
  Status refreshed = files_.refresh(now, files_complete_ ? &before : nullptr);
  if (refreshed && thoroughly) refreshed = files_.tidy_cdi(now);
  files_complete_ = refreshed.ok();
  telemetry_.report_condition("CDI files", refreshed);
  if (resources_)
    telemetry_.report_condition("send the devices to the kubelet", resources_->publish());
}

void KubeletDevices::report_registrations() {
  if (resources_) telemetry_.report_registrations(resources_->registrations());
}

void KubeletDevices::stop() {
  if (resources_) resources_->stop();
}

Status KubeletDevices::check_registered() const {
  if (is_registered()) return ok();
  std::string missing;
  for (const auto& [name, registration] : resources_->registrations())
    if (!registration.registered) add_item(missing, ", ", name);
  return Error(Code::unavailable, "not registered with the kubelet: " + missing);
}

void KubeletDevices::tidy_files() {
  if (!host_.pods()) return;
  const Result<std::vector<gc::PodDevices>> pods = host_.pods()->list_pods();
  if (pods) telemetry_.report_condition("device-info files", files_.tidy(*snapshot_.get(), *pods));
}

}  // namespace ibpod::agent
