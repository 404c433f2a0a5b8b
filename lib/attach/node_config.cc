#include "lib/attach/node_config.h"

#include "lib/attach/keys.h"
#include "lib/base/private_file.h"
#include "lib/base/words.h"
#include "lib/json/fields.h"

namespace ibpod::attach {
namespace {

using json::Fields;
using json::Value;

Status read_path(Fields& fields, std::string_view key, Path& path) {
  const Path given = TRY(Keys::path(fields, key, std::string(key)));
  if (!given.empty()) path = given;
  return ok();
}

Status read_log_level(Fields& fields, NodeConfig& config) {
  const std::optional<std::string> level = TRY(text(fields, "logLevel"));
  if (level) config.log_level = TRY(at("logLevel", log::parse_level(*level)));
  return ok();
}

Status read_ipam_types(Fields& fields, NodeConfig& config) {
  const std::optional<Value> list = TRY(fields.find("ipamTypes"));
  if (!list) return ok();
  config.ipam_types.emplace();
  const std::vector<Value> types = TRY(list->elements());
  for (const Value& type : types) {
    const std::string name = TRY(type.string());
    config.ipam_types->push_back(name);
  }
  return ok();
}

Status read_devices(Fields& fields, NodeConfig& config) {
  const std::optional<std::string> devices = TRY(text(fields, "devices"));
  if (!devices) return ok();
  const Words<bool> words{{"allocated", false}, {"any", true}};
  config.any_device = TRY(at("devices", parse_word(words, *devices)));
  return ok();
}

Status read_master_vfs(Fields& fields, NodeConfig& config) {
  const std::optional<Value> list = TRY(fields.find("masterVfs"));
  if (!list) return ok();
  const std::vector<Value> addresses = TRY(list->elements());
  for (const Value& address : addresses) {
    const std::string text = TRY(address.string());
    const ib::PciAddress vf = TRY(at("masterVfs", ib::PciAddress::parse(text)));
    config.master_vfs.push_back(vf);
  }
  return ok();
}

Status check_known(const Fields& fields) {
  const std::vector<std::string> unknown = fields.unknown();
  if (unknown.empty()) return ok();
  return Error(Code::invalid,
               unknown.front() + ": unknown key" + fields.instead_of(unknown.front()));
}

Result<NodeConfig> parse(const std::string& text) {
  const Value document = TRY(Value::parse(text));
  Fields fields = TRY(Fields::of(document));
  NodeConfig config;
  TRY(read_path(fields, "stateDir", config.state_folder));
  TRY(read_path(fields, "agentSocket", config.agent_socket));
  TRY(read_path(fields, "logFile", config.log_file));
  TRY(read_log_level(fields, config));
  TRY(read_path(fields, "deviceInfoDir", config.device_info_folder));
  TRY(read_ipam_types(fields, config));
  TRY(read_devices(fields, config));
  TRY(read_master_vfs(fields, config));
  const std::optional<bool> allow = TRY(fields.boolean("allowInNetworks"));
  config.allow_in_networks = allow.value_or(false);
  TRY(check_known(fields));
  return config;
}

}  // namespace

Result<NodeConfig> read_node_config(const Path& file) {
  const Result<std::string> text = read_trusted_file(file);
  if (!text && text.error().code() == Code::not_found) return NodeConfig();
  if (!text) return text.error();
  return parse(*text).during(file.string());
}

}  // namespace ibpod::attach
