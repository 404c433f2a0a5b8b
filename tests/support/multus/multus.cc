#include "tests/support/multus/multus.h"

#include "lib/json/read.h"
#include "tests/support/multus/devices.h"
#include "tests/support/multus/network_status.h"

#include <cstdio>

namespace ibpod::multus {
namespace {

void warn(const std::string& text) { std::fprintf(stderr, "multus: %s\n", text.c_str()); }

Result<Path> read_path(const json::Value& value) {
  const std::string text = TRY(value.string());
  return Path(text);
}

// For a pod that does not exist: as if there had been a result.
Result<cni::AddResult> empty_result(const cni::Call& call) {
  cni::AddResult result;
  cni::Interface& interface = result.interfaces.emplace_back();
  interface.name = call.ifname;
  interface.sandbox = call.netns.string();
  const ip::Prefix none = TRY(ip::Prefix::parse("0.0.0.0/0"));
  result.ips.push_back({none, none.address, std::nullopt});
  return result;
}

std::string name_in(const json::Value& configuration) {
  const std::optional<json::Value> name = configuration.find("name");
  return name && name->is_string() ? name->string().value() : "";
}

}  // namespace

Result<Config> parse_config(const json::Value& document) {
  json::Fields fields = TRY(json::Fields::of(document));
  Config config;
  const auto as_it_is = [](const json::Value& one) -> Result<json::Value> { return one; };
  TRY(take(fields, "binDir", config.programs, read_path));
  TRY(take(fields, "cniDir", config.cache, read_path));
  TRY(take(fields, "kubeletRoot", config.kubelet, read_path));
  TRY(take(fields, "deviceInfoDir", config.device_info, read_path));
  TRY(take(fields, "objects", config.objects, read_path));
  TRY(take(fields, "multusNamespace", config.name_space));
  TRY(take(fields, "delegates", config.delegates, as_it_is));
  return config;
}

Status Multus::configure(const cni::Call& call, const cni::Network& network) {
  call_ = call;
  config_ = TRY(parse_config(network.document));
  return ok();
}

// Nothing where nobody is asked for pods. invalid: the pod is another one by now.
Result<std::optional<Pod>> Multus::find_pod() const {
  if (config_.objects.empty() || call_.pod.name.empty()) return std::optional<Pod>();
  std::optional<Pod> pod = TRY(Objects(config_.objects).pod(call_.pod.name_space, call_.pod.name));
  const bool same = !pod || call_.pod.uid.empty() || pod->uid == call_.pod.uid;
  if (same) return pod;
  return Error(Code::invalid, "expected pod UID \"" + call_.pod.uid + "\" but got \"" + pod->uid +
                                  "\" from Kube API");
}

Result<Multus::Delegates> Multus::networks_of(const Pod& pod,
                                              const std::vector<Selection>& selections,
                                              size_t before) const {
  const Objects objects(config_.objects);
  std::optional<Devices> devices;
  Delegates delegates;
  for (const Selection& selection : selections) {
    const Network network = TRY(objects.network(selection.name_space, selection.name));
    std::string device;
    if (!network.resource.empty()) {
      if (!devices) devices = TRY(Devices::of(pod, config_.kubelet));
      device = devices->take(network.resource);
    }
    const std::string ifname = "net" + std::to_string(before + delegates.size());
    Delegate delegate = TRY(pods_delegate(network, selection, device, ifname));
    delegates.push_back(std::move(delegate));
  }
  return delegates;
}

// It takes devices without the other networks' knowing: those begin with the first one again.
Status Multus::replace_default(const Pod& pod, Delegates& delegates) const {
  const std::vector<Selection> selections =
      TRY(parse_selections(pod.default_network, config_.name_space).during("default-network"));
  if (selections.empty()) return ok();
  if (selections.size() > 1)
    return Error(Code::invalid,
                 "more than one default network is specified: " + pod.default_network);
  const Delegates own = TRY(networks_of(pod, selections, 0));
  if (delegates.empty()) delegates.emplace_back();
  delegates.front() = as_default(own.front(), selections.front(), call_.ifname);
  return ok();
}

Result<Multus::Delegates> Multus::delegates_of(const std::optional<Pod>& pod) const {
  Delegates delegates =
      TRY(configured_delegates(config_.delegates, call_.ifname).during("delegates"));
  if (!pod) return delegates;
  TRY(replace_default(*pod, delegates));
  const std::vector<Selection> selections = TRY(parse_selections(pod->networks, pod->name_space));
  const size_t before = std::max<size_t>(delegates.size(), 1);
  const Delegates networks = TRY(networks_of(*pod, selections, before));
  delegates.insert(delegates.end(), networks.begin(), networks.end());
  return delegates;
}

Status Multus::call(Delegate& delegate) const {
  const bool taken = TRY(has_interface_(call_.netns, delegate.ifname));
  if (taken) return Error(Code::exists, "the pod has an interface " + delegate.ifname);
  const DeviceInfo info(config_.device_info);
  TRY(info.copy(delegate, call_.container_id));
  const Path file = info.file(delegate, call_.container_id);
  if (!file.empty()) delegate.wishes.set("CNIDeviceInfoFile", file.string());
  delegate.result = TRY(Caller(call_, config_.programs).add(delegate));
  return Cache(config_.cache).write_result(call_.container_id, delegate);
}

Error Multus::failed(const Delegate& delegate, const Error& error) const {
  const cni::Pod& pod = call_.pod;
  const std::string network = name_in(delegate.configuration);
  return Error(error.code(), "[" + pod.name_space + "/" + pod.name + "/" + pod.uid + ":" + network +
                                 "]: error adding container to network \"" + network +
                                 "\": " + error.text());
}

// The last one first. All are tried; the result of one that fails is kept.
Status Multus::end(const Delegates& delegates, size_t number) const {
  const Caller caller(call_, config_.programs);
  const DeviceInfo info(config_.device_info);
  Errors errors;
  while (number > 0) {
    const Delegate& delegate = delegates[--number];
    Status ended = caller.del(delegate);
    if (ended) ended = Cache(config_.cache).remove_result(call_.container_id, delegate);
    errors.collect(std::move(ended), "network " + delegate.name);
    errors.collect(info.remove(delegate, call_.container_id));
  }
  return errors.status();
}

Status Multus::write_status(const Pod& pod, const Delegates& delegates) const {
  const DeviceInfo info(config_.device_info);
  json::Value list = json::Value::array();
  for (const Delegate& delegate : delegates) {
    std::vector<json::Value> statuses =
        TRY(network_statuses(delegate, info.read(delegate, call_.container_id)));
    for (json::Value& status : statuses) list.push(std::move(status));
  }
  return Objects(config_.objects).write_status(pod, list);
}

Result<cni::AddResult> Multus::add() { return add_all().reported_as(kMultusError); }

Result<cni::AddResult> Multus::add_all() {
  const std::optional<Pod> pod = TRY(find_pod());
  if (!pod && !config_.objects.empty()) return empty_result(call_);
  Delegates delegates = TRY(delegates_of(pod));
  const Cache cache(config_.cache);
  TRY(cache.write(call_.container_id, delegates));
  for (size_t place = 0; place < delegates.size(); ++place) {
    const Status called = call(delegates[place]);
    if (!called) {
      const Status ended = end(delegates, place + 1);
      if (!ended) warn(ended.error().text());
      return failed(delegates[place], called.error());
    }
  }
  if (pod) TRY(write_status(*pod, delegates));
  if (delegates.empty()) return cni::AddResult{};
  return cni::parse_result(*delegates.front().result);
}

// The delegates that were called; if they are not known any more, those that would be called now.
Result<std::optional<Multus::Delegates>> Multus::remembered() const {
  const Cache cache(config_.cache);
  std::optional<Delegates> delegates = TRY(cache.read(call_.container_id));
  if (!delegates) {
    const std::optional<Pod> pod = TRY(find_pod());
    if (!pod) return delegates;
    delegates = TRY(delegates_of(pod));
  }
  for (Delegate& delegate : *delegates)
    delegate.result = cache.result(call_.container_id, delegate);
  return delegates;
}

// A sandbox must come to its end, even if it is not known what was in it. A plugin's DEL that
// failed is not tried again: the cache is removed.
Status Multus::del() {
  const Result<std::optional<Delegates>> delegates = remembered();
  if (!delegates || !*delegates) {
    warn("nothing is known of " + call_.container_id +
         (delegates ? "" : ": " + delegates.error().text()));
    return ok();
  }
  Status ended = end(**delegates, (*delegates)->size());
  TRY(Cache(config_.cache).remove(call_.container_id));
  return std::move(ended).reported_as(kMultusError);
}

Status Multus::check() {
  Delegates delegates = TRY(configured_delegates(config_.delegates, call_.ifname));
  const Cache cache(config_.cache);
  const Caller caller(call_, config_.programs);
  for (Delegate& delegate : delegates) {
    delegate.result = cache.result(call_.container_id, delegate);
    TRY(caller.check(delegate).reported_as(kMultusError));
  }
  return ok();
}

Status Multus::gc() {
  const Delegates delegates = TRY(configured_delegates(config_.delegates, ""));
  if (delegates.empty()) return ok();
  const std::vector<cni::Attachment> valid =
      TRY(Cache(config_.cache).attachments().reported_as(kMultusError));
  return Caller(call_, config_.programs).gc(delegates.front(), valid).reported_as(kMultusError);
}

Status Multus::status() {
  const Delegates delegates = TRY(configured_delegates(config_.delegates, ""));
  if (delegates.empty()) return ok();
  return Caller(call_, config_.programs).status(delegates.front());
}

}  // namespace ibpod::multus
