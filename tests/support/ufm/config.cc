#include "tests/support/ufm/config.h"

#include "lib/json/read.h"
#include "tests/support/ufm/settings_json.h"
#include "tests/support/ufm/state_json.h"

namespace ibpod::fake_ufm {

Words<Role> words_of(Role) {
  return {{"administrator", Role::administrator}, {"reader", Role::reader}};
}

namespace {

using json::Fields;
using json::Value;

Status take_file(Fields& fields, const char* key, std::string& content) {
  Path path;
  TRY(json::take(fields, key, path));
  if (path.empty()) return ok();
  content = TRY(read_file(path).during(key));
  return ok();
}

Result<std::optional<http::Address>> read_address(const Value& value) {
  const http::Address address = TRY(json::read<http::Address>(value));
  return std::optional(address);
}

Result<std::optional<TlsListening>> read_listening(const Value& object) {
  TlsListening listening;
  const Value address = TRY(object.at("listen"));
  listening.address = TRY(json::read<http::Address>(address));
  Value files = object;
  listening.files = TRY(read_tls_files(files.erase("listen")));
  return std::optional(listening);
}

Result<UserConfig> read_user(const Value& object) {
  Fields fields = TRY(Fields::of(object));
  UserConfig user;
  TRY(json::take(fields, "name", user.name));
  TRY(json::take(fields, "password", user.password));
  TRY(json::take(fields, "role", user.role));
  TRY(json::refuse_unknown(object, fields));
  return user;
}

Result<std::map<std::string, std::string>> read_map(const Value& object) {
  const auto members = TRY(object.members());
  std::map<std::string, std::string> map;
  for (const auto& [key, value] : members) map[key] = TRY(value.string());
  return map;
}

template <typename Item>
auto list_of(Result<Item> (*read)(const Value&)) {
  return [read](const Value& list) { return json::read_list(list, read); };
}

template <typename Settings>
Result<Settings> updated(const Value& object) {
  Settings settings;
  TRY(update(settings, object));
  return settings;
}

}  // namespace

Result<TlsFiles> read_tls_files(const Value& object) {
  Fields fields = TRY(Fields::of(object));
  TlsFiles files;
  TRY(take_file(fields, "certificate", files.certificate));
  TRY(take_file(fields, "key", files.key));
  TRY(take_file(fields, "client_ca", files.client_ca));
  TRY(json::refuse_unknown(object, fields));
  return files;
}

Result<EffectDelay> read_effect(const Value& value) {
  if (value.is_string() && value.string().value() == "never") return EffectDelay();
  const int64_t delay = TRY(value.integer(0, 86'400'000));
  return EffectDelay(Duration(delay));
}

Result<Config> read_config(std::string_view text) {
  const Value object = TRY(Value::parse(text, json::Comments::allowed));
  Fields fields = TRY(Fields::of(object));
  Config config;
  TRY(json::take(fields, "tls", config.tls, read_listening));
  TRY(json::take(fields, "plain", config.plain, read_address));
  TRY(json::take(fields, "control", config.control, read_address));
  TRY(json::take(fields, "users", config.users, list_of(read_user)));
  TRY(json::take(fields, "tokens", config.tokens, read_map));
  TRY(json::take(fields, "certificates", config.certificates, read_map));
  TRY(json::take(fields, "switches", config.switches, updated<Switches>));
  TRY(json::take(fields, "rest", config.rest, updated<RestSettings>));
  TRY(json::take(fields, "ports", config.ports, list_of(read_port)));
  TRY(json::take(fields, "vports", config.vports, list_of(read_vport)));
  TRY(json::take(fields, "virtualization", config.virtualization));
  TRY(json::take(fields, "partitions_file", config.opensm.partitions));
  TRY(json::take(fields, "opensm_pid_file", config.opensm.pid_file));
  TRY(json::take(fields, "effect", config.effect, read_effect));
  TRY(json::refuse_unknown(object, fields));
  return config;
}

}  // namespace ibpod::fake_ufm
