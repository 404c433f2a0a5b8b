// Any configuration of ibpod-sm is either read or refused with a reason, and the values read are
// within their documented ranges.
#include "lib/base/dns_name.h"
#include "sm/config/config.h"
#include "tests/support/fuzz.h"

namespace ibpod::sm::config {
namespace {

using fuzz::require;

bool is_plain(const Path& path) {
  return path.is_absolute() && path.lexically_normal() == path &&
         path.string().find('\0') == std::string::npos;
}

void check_numbers(const Config& config) {
  const opensm::OpenSmSettings& opensm = config.opensm.launcher.opensm;
  require(opensm.priority <= 15 && opensm.m_key_protection <= 3);
  require(opensm.max_wire_smps >= 1 && opensm.max_wire_smps <= 256);
  require(config.window >= 1 && config.window <= 256);
  require(config.scan >= Duration(1'000) && config.scan <= Duration(3'600'000));
  require(config.call_timeout >= Duration(1'000) && config.call_timeout <= Duration(600'000));
}

void check_ufm(const UfmSettings& settings) {
  const ufm::ClientSettings& client = settings.client;
  require(!client.addresses.empty() && client.addresses.size() <= 8);
  for (const std::string& address : client.addresses)
    require(address.starts_with("https://") && address.find_first_of("@ \n") == address.npos);
  require(client.timeout >= Duration(1'000) && client.timeout <= Duration(300'000));
  require(client.ca.empty() || is_plain(client.ca));
  if (const auto* const basic = std::get_if<ufm::BasicAuth>(&client.auth))
    require(!basic->user.empty() && is_plain(basic->password_file));
  if (const auto* const token = std::get_if<ufm::TokenAuth>(&client.auth))
    require(is_plain(token->token_file));
  if (const auto* const files = std::get_if<ufm::CertificateAuth>(&client.auth))
    require(is_plain(files->certificate) && is_plain(files->key));
  require(settings.engine.read_interval >= Duration(5'000) && is_plain(settings.engine.folder));
}

void check_cluster(const api::Cluster& cluster) {
  require(is_dns_label(cluster.name) && !cluster.issuer.empty());
  require(!cluster.service_accounts.empty() && !cluster.audience.empty());
  if (const auto* const file = std::get_if<Path>(&cluster.keys)) require(is_plain(*file));
  const auto* const endpoint = std::get_if<jwt::KeyEndpoint>(&cluster.keys);
  if (endpoint == nullptr) return;
  require(endpoint->url.starts_with("https://") && is_plain(endpoint->ca));
  require(endpoint->url.find_first_of("@?# \n") == endpoint->url.npos);
  require(endpoint->token.empty() || is_plain(endpoint->token));
}

void check_config(const Config& config) {
  require(state::check(config.policy).ok() && is_dns_label(config.fabric));
  for (const Path& path : {config.state_folder, config.socket, config.opensm.folder})
    require(is_plain(path));
  require(config.declared.empty() || is_plain(config.declared));
  if (config.engine == EngineKind::opensm)
    require(opensm::check(opensm::OpenSmPaths(config.opensm.folder)).ok());
  if (config.listening)
    require(config.listening->address.port != 0 && is_plain(config.listening->tls.key));
  require((config.engine == EngineKind::ufm) == config.ufm.has_value());
  if (config.ufm) check_ufm(*config.ufm);
  for (const api::Cluster& cluster : config.clusters) check_cluster(cluster);
  const fabric::ClusterNames& names = config.policy.clusters;
  require(names.others.size() + (names.default_cluster.empty() ? 0 : 1) == config.clusters.size());
  for (const auto& [node, ports] : config.policy.nodes) require(check_cluster(names, node).ok());
  check_numbers(config);
}

}  // namespace
}  // namespace ibpod::sm::config

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  const auto config = sm::config::read_config(fuzz::text_of(data, size));
  if (!config) fuzz::check_refusal(config.error(), size);
  if (config) sm::config::check_config(*config);
  return 0;
}
