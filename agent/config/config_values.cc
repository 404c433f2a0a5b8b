#include "agent/config/config_values.h"

#include "lib/base/dns_name.h"
#include "lib/base/resource_name.h"
#include "lib/json/read.h"

namespace ibpod::agent::config {
namespace {

constexpr size_t kLongestSocketPath = 107;

Error expected(const json::Value& value, const std::string& what) {
  return value.wrong("expected " + what + ", got " + value.text());
}

}  // namespace

Words<Registration> words_of(Registration) {
  return {{"auto", Registration::automatic},
          {"watcher", Registration::watcher},
          {"legacy", Registration::legacy}};
}

Result<Path> read_optional_path(const json::Value& value) {
  const std::string text = TRY(value.string());
  return text.empty() ? Path() : json::read_path(value);
}

Result<Path> read_socket_path(const json::Value& value) {
  Path path = TRY(json::read_path(value));
  const size_t size = path.native().size();
  if (size <= kLongestSocketPath) return path;
  return expected(value,
                  "a Unix socket path of at most 107 bytes (not " + std::to_string(size) + ")");
}

Result<Path> read_optional_socket_path(const json::Value& value) {
  const std::string text = TRY(value.string());
  return text.empty() ? Path() : read_socket_path(value);
}

Result<json::Value> read_objects(const json::Value& value) {
  const std::vector<json::Value> elements = TRY(value.elements());
  for (const json::Value& element : elements) TRY(element.members());
  return value;
}

Result<bool> read_permission(const json::Value& value) {
  return json::read_word<bool>(value, {{"allow", true}, {"refuse", false}});
}

Result<std::string> read_rdma_netns(const json::Value& value) {
  return json::read_word<std::string>(
      value, {{"exclusive", "exclusive"}, {"shared", "shared"}, {"keep", "keep"}});
}

Result<Duration> read_interval(const json::Value& value) {
  const int64_t seconds = TRY(value.integer(5, 3600));
  return Duration(seconds * 1000);
}

namespace {

Result<std::string> read_fabric_name(const json::Value& value) {
  const std::string name = TRY(value.string());
  if (is_dns_label(name)) return name;
  return expected(value, "a fabric name (at most 63 lowercase letters, digits and, inside, -)");
}

Result<ib::Guid> read_subnet_prefix(const json::Value& value) {
  const std::string text = TRY(value.string());
  const Result<ib::Guid> prefix = ib::Guid::parse(text);
  if (prefix) return prefix;
  return expected(value, "the first half of a GID, such as fe80:0000:0000:0000");
}

Status take_sm_address(const json::Value& value, json::Fields& fields,
                       fabricapi::ServiceAddress& sm_address) {
  const json::Value service = TRY(value.at("service"));
  sm_address.address = TRY(service.string());
  TRY(fields.find("service"));
  const Status good = fabricapi::check_address(sm_address.address);
  if (!good && !fabricapi::needs_files(sm_address.address))
    return service.wrong(good.error().text());
  if (!good) return expected(service, "HOST:PORT, such as ibpod-sm.example.com:7473");
  TRY(take(fields, "name", sm_address.fabric, read_fabric_name));
  TRY(take(fields, "certificate", sm_address.files.certificate));
  TRY(take(fields, "key", sm_address.files.key));
  TRY(take(fields, "token", sm_address.token));
  return take(fields, "ca", sm_address.files.ca);
}

// On its socket the service takes everybody for an administrator, and a node is none.
Status check_remote(const json::Value& value, const fabricapi::ServiceAddress& sm_address) {
  if (fabricapi::needs_files(sm_address.address)) return ok();
  return value.wrong("service: expected HOST:PORT, got \"" + sm_address.address +
                     "\": the socket is for administrators only");
}

Status check_files(const json::Value& value, const fabricapi::ServiceAddress& sm_address) {
  const rpc::TlsFiles& files = sm_address.files;
  const bool has_token = !sm_address.token.empty();
  if (has_token && !files.ca_only())
    return value.wrong("certificate, key and token: set either token, or certificate and key");
  const bool complete = has_token || (!files.certificate.empty() && !files.key.empty());
  if (complete && !files.ca.empty()) return ok();
  return value.wrong("service " + sm_address.address +
                     " uses TLS: set ca, and token or certificate and key");
}

Result<FabricService> read_fabric(const json::Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  FabricService service;
  TRY(take_sm_address(value, fields, service.sm_address));
  TRY(check_remote(value, service.sm_address));
  TRY(check_files(value, service.sm_address));
  TRY(take(fields, "subnetPrefix", service.subnet_prefix, read_subnet_prefix));
  TRY(json::refuse_unknown(value, fields));
  return service;
}

// A PF's subnet prefix has to tell which one it is on.
Status check_apart(const json::Value& value, const FabricService& one, const FabricService& other) {
  const std::string both = "fabrics " + other.sm_address.fabric + " and " + one.sm_address.fabric;
  if (one.sm_address.fabric == other.sm_address.fabric)
    return value.wrong("two fabrics have the name " + one.sm_address.fabric +
                       ": set name in each to the fabric name of its SM service");
  if (!one.subnet_prefix || !other.subnet_prefix)
    return value.wrong(both + ": set subnetPrefix in each, because there are several fabrics");
  if (*one.subnet_prefix != *other.subnet_prefix) return ok();
  return value.wrong(
      both + " have the same subnetPrefix " + one.subnet_prefix->text_in_gid() +
      ": configure another one in one of their subnet managers (OpenSM: subnet_prefix)");
}

}  // namespace

Result<std::vector<FabricService>> read_fabrics(const json::Value& value) {
  const std::vector<json::Value> elements = TRY(value.elements());
  std::vector<FabricService> fabrics;
  for (const json::Value& element : elements) {
    FabricService fabric = TRY(read_fabric(element));
    for (const FabricService& other : fabrics) TRY(check_apart(element, fabric, other));
    fabrics.push_back(std::move(fabric));
  }
  return fabrics;
}

Result<std::string> read_prefix(const json::Value& value) {
  const std::string prefix = TRY(value.string());
  const Status fits = check_resource_prefix(prefix);
  if (!fits) return value.wrong(fits.error().text());
  return prefix;
}

}  // namespace ibpod::agent::config
