#include "agent/gc/installed_plugins.h"

#include "lib/attach/ipam.h"
#include "lib/attach/node_config.h"
#include "lib/base/process.h"
#include "lib/cni/delegate_error.h"
#include "lib/cni/errors.h"
#include "lib/node/child.h"

namespace ibpod::agent::gc {
namespace {

// No network can be of this name: all others are named as valid all the same.
constexpr std::string_view kNoNetwork = "ibpod-agent";

// The search path of IPAM plugins for programs of their own.
constexpr std::string_view kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

Status check_program_name(const std::string& plugin) {
  const bool good =
      !plugin.empty() && plugin != "." && plugin != ".." && plugin.find('/') == plugin.npos;
  if (good) return ok();
  return Error(Code::invalid, "plugin \"" + plugin + "\": expected the name of a program");
}

Status check_end(const Finished& finished) {
  const std::optional<cni::DelegateError> complaint = cni::parse_delegate_error(finished.output);
  if (finished.exit_code == 0 && !complaint) return ok();
  const bool later = complaint && complaint->code == cni::kTryAgainLater;
  return Error(later ? Code::unavailable : Code::internal, cni::describe(finished, complaint))
      .with_details(cni::tail(finished.errors));
}

json::Value attachments(const std::vector<node::RecordName>& names) {
  json::Value list = json::Value::array();
  for (const node::RecordName& name : names) {
    list.push(
        json::Value::object().set("containerID", name.container_id).set("ifname", name.ifname));
  }
  return list;
}

}  // namespace

Status InstalledPlugins::call(const std::string& plugin, cni::Verb verb,
                              cni::Environment environment, const std::string& configuration) {
  TRY(check_program_name(plugin));
  const Path program = settings_.folder / plugin;
  environment["CNI_COMMAND"] = std::string(cni::name(verb));
  environment["PATH"] = std::string(kPath);
  environment[std::string(attach::kStateVariable)] = settings_.state_folder.string();
  const std::string step = std::string(cni::name(verb)) + " by " + program.string();
  const Command command{program, std::move(environment), configuration, settings_.mount_namespace};
  const Finished finished = TRY(run(command, Deadline::in(settings_.timeout)).during(step));
  return check_end(finished).during(step);
}

Status InstalledPlugins::del(const node::Record& record) {
  const cni::Environment environment{{"CNI_CONTAINERID", record.container_id},
                                     {"CNI_IFNAME", record.ifname},
                                     {"CNI_NETNS", ""},
                                     {"CNI_ARGS", record.cni_args},
                                     {"CNI_PATH", record.cni_path},
                                     {std::string(attach::kOnlyAttempt), record.attempt}};
  return call(record.plugin, cni::Verb::del, environment, record.configuration);
}

Status InstalledPlugins::collect(const node::RecordName& damaged,
                                 const std::vector<node::RecordName>& others) {
  return collect_all_but(node::is_child_link(damaged.folder) ? "ipoib" : "ib-sriov", others);
}

// Its GC ends with them (attach::remove_stray_children).
Status InstalledPlugins::remove_strays(const std::vector<node::RecordName>& recorded) {
  return collect_all_but("ipoib", recorded);
}

Status InstalledPlugins::collect_all_but(const std::string& plugin,
                                         const std::vector<node::RecordName>& valid) {
  json::Value configuration = json::Value::object();
  configuration.set("cniVersion", cni::kNewest.text()).set("name", kNoNetwork).set("type", plugin);
  configuration.set("cni.dev/valid-attachments", attachments(valid));
  return call(plugin, cni::Verb::gc, {}, configuration.text());
}

}  // namespace ibpod::agent::gc
