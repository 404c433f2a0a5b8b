#include "tests/support/multus/delegate.h"

#include "lib/base/join.h"
#include "lib/json/read.h"

namespace ibpod::multus {
namespace {

using json::Value;

std::string name_of(const Value& configuration) {
  const std::optional<Value> name = configuration.find("name");
  return name && name->is_string() ? name->string().value() : "";
}

// The pod's own keys go before the network's.
Result<Value> with_cni_args(Value plugin, const Value& cni_args) {
  Value args = plugin.find("args").value_or(Value::object());
  Value merged = args.find("cni").value_or(Value::object());
  const auto members = TRY(cni_args.members());
  for (const auto& [key, value] : members) merged.set(key, value);
  args.set("cni", merged);
  plugin.set("args", args);
  return plugin;
}

Result<Value> completed(Value plugin, const Selection& selection, const std::string& device) {
  if (!device.empty()) plugin.set("deviceID", device).set("pciBusID", device);
  if (!selection.cni_args) return plugin;
  return with_cni_args(std::move(plugin), *selection.cni_args);
}

Value list_of(const std::vector<std::string>& texts) {
  Value list = Value::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

void wish(Delegate& delegate, const Selection& selection) {
  if (!selection.mac.empty()) {
    delegate.wishes.set("mac", selection.mac);
    delegate.arguments += ";MAC=" + selection.mac;
  }
  if (!selection.ips.empty()) {
    delegate.wishes.set("ips", list_of(selection.ips));
    delegate.arguments += ";IP=" + join(selection.ips, ",");
  }
  if (!selection.guid.empty()) delegate.wishes.set("infinibandGUID", selection.guid);
  if (!delegate.device.empty()) delegate.wishes.set("deviceID", delegate.device);
}

}  // namespace

Result<std::vector<Value>> Delegate::plugins() const {
  const std::optional<Value> list = configuration.find("plugins");
  if (!list) return std::vector<Value>{configuration};
  return list->elements();
}

Result<cni::Version> Delegate::version() const {
  const std::optional<Value> version = configuration.find("cniVersion");
  if (!version) return cni::kUnnamed;
  const std::string text = TRY(version->string());
  return cni::Version::parse(text);
}

Value to_json(const Delegate& delegate) {
  Value value = Value::object();
  value.set("name", delegate.name).set("ifname", delegate.ifname);
  value.set("default", delegate.is_default).set("configuration", delegate.configuration);
  value.set("wishes", delegate.wishes).set("arguments", delegate.arguments);
  value.set("resource", delegate.resource).set("device", delegate.device);
  return value;
}

Result<Delegate> read_delegate(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  Delegate delegate;
  const auto as_it_is = [](const Value& one) -> Result<Value> { return one; };
  TRY(take(fields, "name", delegate.name));
  TRY(take(fields, "ifname", delegate.ifname));
  TRY(take(fields, "default", delegate.is_default));
  TRY(take(fields, "configuration", delegate.configuration, as_it_is));
  TRY(take(fields, "wishes", delegate.wishes, as_it_is));
  TRY(take(fields, "arguments", delegate.arguments));
  TRY(take(fields, "resource", delegate.resource));
  TRY(take(fields, "device", delegate.device));
  return delegate;
}

Result<std::vector<Delegate>> configured_delegates(const Value& list, const std::string& ifname) {
  const std::vector<Value> elements = TRY(list.elements());
  std::vector<Delegate> delegates;
  for (const Value& configuration : elements) {
    Delegate delegate;
    delegate.name = name_of(configuration);
    delegate.is_default = delegates.empty();
    delegate.ifname = delegates.empty() ? ifname : "net" + std::to_string(delegates.size());
    delegate.configuration = configuration;
    delegates.push_back(std::move(delegate));
  }
  return delegates;
}

Delegate as_default(Delegate delegate, const Selection& selection, const std::string& ifname) {
  delegate.is_default = true;
  delegate.wishes = Value::object();
  if (selection.interface.empty()) delegate.ifname = ifname;
  return delegate;
}

Result<Delegate> pods_delegate(const Network& network, const Selection& selection,
                               const std::string& device, const std::string& ifname) {
  Delegate delegate;
  delegate.name = selection.name_space + "/" + selection.name;
  delegate.ifname = selection.interface.empty() ? ifname : selection.interface;
  delegate.configuration = network.configuration;
  delegate.resource = device.empty() ? "" : network.resource;
  // The pod's own word counts where the network names no resource.
  delegate.device = device.empty() ? selection.device : device;
  wish(delegate, selection);
  const std::optional<Value> list = network.configuration.find("plugins");
  if (!list) {
    delegate.configuration = TRY(completed(network.configuration, selection, device));
    return delegate;
  }
  const std::vector<Value> plugins = TRY(list->elements());
  Value changed = Value::array();
  for (const Value& plugin : plugins) {
    Value one = TRY(completed(plugin, selection, device));
    changed.push(std::move(one));
  }
  delegate.configuration.set("plugins", changed);
  return delegate;
}

}  // namespace ibpod::multus
