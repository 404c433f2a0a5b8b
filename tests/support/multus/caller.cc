#include "tests/support/multus/caller.h"

#include "lib/base/join.h"
#include "lib/base/process.h"
#include "lib/cni/delegate_error.h"
#include "lib/cni/errors.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include <unistd.h>

namespace ibpod::multus {
namespace {

using json::Value;

// Multus has no limit of its own; the runtime has.
constexpr Duration kTimeout{240'000};
constexpr cni::Version kFirstWithPrevious{0, 4, 0};
constexpr cni::Version kFirstWithGc{1, 1, 0};

// The runtimeConfig for the plugin, limited to the capabilities that it declares.
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

std::string argument(const std::string& arguments, const std::string& name) {
  const std::string all = ";" + arguments;
  const size_t found = all.find(";" + name + "=");
  if (found == all.npos) return "";
  const size_t begin = found + name.size() + 2;
  return all.substr(begin, all.find(';', begin) - begin);
}

Result<Path> find_program(const std::vector<Path>& folders, const std::string& type) {
  for (const Path& folder : folders)
    if (::access((folder / type).c_str(), X_OK) == 0) return folder / type;
  return Error(Code::not_found, "no plugin " + type + " is installed");
}

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& each : lowered) each = static_cast<char>(std::tolower(each));
  return lowered;
}

// The number that the plugin gave is lost but for STATUS.
Error failure(const std::string& type, const std::string& network, cni::Verb verb,
              const Finished& finished) {
  const std::optional<cni::DelegateError> complaint = cni::parse_delegate_error(finished.output);
  Error error(Code::internal,
              "plugin type=\"" + type + "\"" +
                  (network.empty() ? "" : " name=\"" + network + "\"") + " failed (" +
                  lower(name(verb)) +
                  "): " + (complaint ? complaint->text : cni::describe(finished, complaint)));
  const bool limited = complaint && complaint->code == cni::kLimitedConnectivity;
  if (verb != cni::Verb::status) return error;
  return std::move(error).reported_as(limited ? cni::kLimitedConnectivity : cni::kNotAvailable);
}

}  // namespace

Caller::Caller(const cni::Call& call, const Path& folder) : call_(call), path_{folder} {
  path_.insert(path_.end(), call.path.begin(), call.path.end());
}

// The pod, followed by all that the runtime has set, although that repeats it. The container is in
// it only if the runtime sets it there.
std::string Caller::arguments(const Delegate& delegate) const {
  const cni::Pod& pod = call_.pod;
  std::string text =
      "IgnoreUnknown=true;K8S_POD_NAMESPACE=" + pod.name_space + ";K8S_POD_NAME=" + pod.name +
      ";K8S_POD_INFRA_CONTAINER_ID=" + argument(call_.args, "K8S_POD_INFRA_CONTAINER_ID") +
      ";K8S_POD_UID=" + pod.uid;
  if (!call_.args.empty()) text += ";" + call_.args;
  return text + delegate.arguments;
}

cni::Environment Caller::environment(cni::Verb verb, const Delegate& delegate) const {
  cni::Environment environment = call_.environment;
  environment["CNI_COMMAND"] = std::string(name(verb));
  environment["CNI_PATH"] = join(path_, ":", &Path::native);
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
  Finished finished =
      TRY(ibpod::run({program, environment(verb, delegate), input.text()}, Deadline::in(kTimeout)));
  std::fputs(finished.errors.c_str(), stderr);
  if (finished.exit_code != 0) {
    const std::optional<Value> network = input.find("name");
    const bool has_name = network && network->is_string();
    return failure(type, has_name ? network->string().value() : "", verb, finished);
  }
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
  const cni::Version version = TRY(delegate.version());
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
  const cni::Version version = TRY(delegate.version());
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
  const cni::Version version = TRY(delegate.version());
  if (version < kFirstWithGc) return ok();
  const std::vector<Value> plugins = TRY(delegate.plugins());
  for (const Value& plugin : plugins) TRY(run(cni::Verb::status, delegate, plugin, {}));
  return ok();
}

}  // namespace ibpod::multus
