#include "agent/kubelet/pool_resources.h"

#include <algorithm>

namespace ibpod::agent::kubelet {

Status PoolResources::serve(const std::set<std::string>& names) {
  const std::scoped_lock lock(mutex_);
  serving_ = true;
  names_ = names;
  std::erase_if(served_, [&](const auto& one) { return !names.contains(one.first); });
  Errors errors;
  for (const std::string& name : names) {
    if (served_.contains(name)) continue;
    auto offering = std::make_unique<PoolResource>(name, snapshot_, deps_, on_allocate_);
    Result<std::unique_ptr<kube::DevicePlugin>> plugin =
        kube::DevicePlugin::start(*offering, kubelet_);
    if (plugin)
      served_[name] = {std::move(offering), std::move(plugin).value()};
    else
      errors.collect(plugin.error(), name);
  }
  return errors.status();
}

Status PoolResources::publish() {
  const std::scoped_lock lock(mutex_);
  Errors errors;
  for (const auto& [name, served] : served_) errors.collect(served.plugin->publish(), name);
  return errors.status();
}

void PoolResources::stop() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, served] : served_) served.plugin->stop();
}

std::map<std::string, kube::Registration> PoolResources::registrations() const {
  const std::scoped_lock lock(mutex_);
  std::map<std::string, kube::Registration> all;
  for (const std::string& name : names_) {
    const auto served = served_.find(name);
    all[name] =
        served == served_.end() ? kube::Registration() : served->second.plugin->registration();
  }
  return all;
}

bool PoolResources::all_registered() const {
  {
    const std::scoped_lock lock(mutex_);
    if (!serving_) return false;
  }
  const auto all = registrations();
  return std::all_of(all.begin(), all.end(), [](const auto& one) { return one.second.registered; });
}

}  // namespace ibpod::agent::kubelet
