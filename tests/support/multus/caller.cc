#include "tests/support/multus/caller.h"

#include "lib/base/process.h"
#include "lib/cni/complaint.h"
#include "lib/cni/errors.h"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

namespace ibpod::multus {
namespace {

using json::Value;

// Multus has no limit of its own; the runtime has.
constexpr Duration kPatience{240'000};
constexpr cni::Version kFirstWithPrevious{0, 4, 0};
constexpr cni::Version kFirstWithGc{1, 1, 0};

Result<cni::Version> version_of(const Delegate& delegate) {
  const std::optional<Value> version = delegate.configuration.find("cniVersion");
  if (!version) return cni::kUnnamed;
  const std::string text = TRY(version->string());
  return cni::Version::parse(text);
}

// What the runtime would tell the plugin, as far as this declares the capability.
Value runtime_config(const Value& plugin, const Value& wishes) {
  Value granted = Value::object();
  const Value capabilities = plugin.find("capabilities").value_or(Value::object());
  const Result<std::vector<std::pair<std::string, Value>>> members = wishes.members();
  if (!members) return granted;
  for (const auto& [key, value] : *members) {
    const std::optional<Value> declared = capabilities.find(key);
    if (declared && declared->boolean().ok() && *declared->boolean()) granted.set(key, value);
  }
  return granted;
}

Result<Path> find_program(const std::vector<Path>& folders, const std::string& type) {
  for (const Path& folder : folders)
    if (::access((folder / type).c_str(), X_OK) == 0) return folder / type;
  return Error(Code::not_found, "no plugin " + type + " is installed");
}

Error failure(const std::string& type, cni::Verb verb, const Finished& finished) {
  const std::optional<cni::Complaint> complaint = cni::parse_complaint(finished.output);
  Error error(Code::internal, "plugin type=\"" + type + "\" failed (" + std::string(name(verb)) +
                                  "): " + cni::describe(finished, complaint));
  const bool limited = complaint && complaint->code == cni::kLimitedConnectivity;
  if (verb != cni::Verb::status) return error;
  return std::move(error).reported_as(limited ? cni::kLimitedConnectivity : cni::kNotAvailable);
}

}  // namespace

Caller::Caller(const cni::Call& call, const Path& folder) : call_(call), path_{folder} {
  path_.insert(path_.end(), call.path.begin(), call.path.end());
}

// The pod, and behind that all that the runtime has said, though it says it twice.
std::string Caller::arguments(const Delegate& delegate) const {
  const cni::Pod& pod = call_.pod;
  std::string text =
      "IgnoreUnknown=true;K8S_POD_NAMESPACE=" + pod.name_space + ";K8S_POD_NAME=" + pod.name +
      ";K8S_POD_INFRA_CONTAINER_ID=" + call_.container_id + ";K8S_POD_UID=" + pod.uid;
  if (!call_.args.empty()) text += ";" + call_.args;
  return text + delegate.arguments;
}

cni::Environment Caller::environment(cni::Verb verb, const Delegate& delegate) const {
  cni::Environment environment = call_.environment;
  std::string path;
  for (const Path& folder : path_) path += (path.empty() ? "" : ":") + folder.string();
  environment["CNI_COMMAND"] = std::string(name(verb));
  environment["CNI_PATH"] = path;
  const bool of_network = verb == cni::Verb::gc || verb == cni::Verb::status;
  if (of_network) {
    for (const char* of_pod : {"CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_ARGS"})
      environment.erase(of_pod);
    return environment;
  }
  environment["CNI_IFNAME"] = delegate.ifname;
  environment["CNI_ARGS"] = arguments(delegate);
  return environment;
}

Result<std::string> Caller::run(cni::Verb verb, const Delegate& delegate, const Value& plugin,
                                const Extra& extra) const {
  const Value named = TRY(plugin.at("type"));
  const std::string type = TRY(named.string());
  const Path program = TRY(find_program(path_, type));
  Value input = plugin;
  for (const char* key : {"name", "cniVersion"}) {
    const std::optional<Value> value = delegate.configuration.find(key);
    if (value) input.set(key, *value);
  }
  const Value runtime = runtime_config(plugin, delegate.wishes);
  if (runtime.text() != "{}") input.set("runtimeConfig", runtime);
  for (const auto& [key, value] : extra) input.set(key, value);
  Finished finished = TRY(
      ibpod::run({program, environment(verb, delegate), input.text()}, Deadline::in(kPatience)));
  std::fputs(finished.errors.c_str(), stderr);
  if (finished.exit_code != 0) return failure(type, verb, finished);
  return std::move(finished.output);
}

Result<Value> Caller::add(const Delegate& delegate) const {
  const std::vector<Value> plugins = TRY(delegate.plugins());
  Value result = Value::object();
  Extra previous;
  for (const Value& plugin : plugins) {
    const std::string output = TRY(run(cni::Verb::add, delegate, plugin, previous));
    result = TRY(Value::parse(output).during("the result of " + delegate.name));
    previous = {{"prevResult", result}};
  }
  return result;
}

// Each with the result of ADD; DEL from the last one on.
Status Caller::with_result(cni::Verb verb, const Delegate& delegate) const {
  std::vector<Value> plugins = TRY(delegate.plugins());
  if (verb == cni::Verb::del) std::reverse(plugins.begin(), plugins.end());
  const cni::Version version = TRY(version_of(delegate));
  Extra previous;
  if (delegate.result && version >= kFirstWithPrevious)
    previous = {{"prevResult", *delegate.result}};
  for (const Value& plugin : plugins) TRY(run(verb, delegate, plugin, previous));
  return ok();
}

Status Caller::del(const Delegate& delegate) const { return with_result(cni::Verb::del, delegate); }

Status Caller::check(const Delegate& delegate) const {
  return with_result(cni::Verb::check, delegate);
}

Status Caller::gc(const Delegate& delegate, const std::vector<cni::Attachment>& valid) const {
  const cni::Version version = TRY(version_of(delegate));
  if (version < kFirstWithGc) return ok();
  Value list = Value::array();
  for (const cni::Attachment& each : valid)
    list.push(Value::object().set("containerID", each.container_id).set("ifname", each.ifname));
  // The second one is an old misspelling that is still sent.
  const Extra extra{{"cni.dev/valid-attachments", list}, {"cni.dev/attachments", list}};
  const std::vector<Value> plugins = TRY(delegate.plugins());
  Errors errors;
  for (const Value& plugin : plugins) {
    const Result<std::string> done = run(cni::Verb::gc, delegate, plugin, extra);
    if (!done) errors.add(done.error());
  }
  return errors.status();
}

Status Caller::status(const Delegate& delegate) const {
  const cni::Version version = TRY(version_of(delegate));
  if (version < kFirstWithGc) return ok();
  const std::vector<Value> plugins = TRY(delegate.plugins());
  for (const Value& plugin : plugins) TRY(run(cni::Verb::status, delegate, plugin, {}));
  return ok();
}

}  // namespace ibpod::multus
