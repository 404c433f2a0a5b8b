#include "agent/kubelet/pool_resources.h"

#include <algorithm>

namespace ibpod::agent {

Status Resources::serve(const std::set<std::string>& names) {
  const std::scoped_lock lock(mutex_);
  told_ = true;
  wanted_ = names;
  std::erase_if(served_, [&](const auto& one) { return !names.contains(one.first); });
  Errors errors;
  for (const std::string& name : names) {
    if (served_.contains(name)) continue;
    auto offering = std::make_unique<Offering>(name, view_, places_, allocated_);
    Result<std::unique_ptr<kube::DevicePlugin>> plugin =
        kube::DevicePlugin::start(*offering, kubelet_);
    if (plugin)
      served_[name] = {std::move(offering), std::move(plugin).value()};
    else
      errors.collect(plugin.error(), name);
  }
  return errors.status();
}

Status Resources::publish() {
  const std::scoped_lock lock(mutex_);
  Errors errors;
  for (const auto& [name, served] : served_) errors.collect(served.plugin->publish(), name);
  return errors.status();
}

void Resources::stop() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, served] : served_) served.plugin->stop();
}

std::map<std::string, kube::Registration> Resources::registrations() const {
  const std::scoped_lock lock(mutex_);
  std::map<std::string, kube::Registration> all;
  for (const std::string& name : wanted_) {
    const auto served = served_.find(name);
    all[name] =
        served == served_.end() ? kube::Registration() : served->second.plugin->registration();
  }
  return all;
}

bool Resources::registered() const {
  {
    const std::scoped_lock lock(mutex_);
    if (!told_) return false;
  }
  const auto all = registrations();
  return std::all_of(all.begin(), all.end(), [](const auto& one) { return one.second.registered; });
}

}  // namespace ibpod::agent
