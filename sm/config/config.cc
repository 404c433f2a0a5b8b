#include "sm/config/config.h"

#include "lib/base/dns_name.h"
#include "sm/config/keys.h"
#include "sm/config/ufm_section.h"
#include "sm/config/values.h"
#include "sm/partitions/values.h"

namespace ibpod::sm::config {
namespace {

using json::Value;

void read_tls(Keys& section, rpc::TlsFiles& tls) {
  section.take("certificate", tls.certificate).take("key", tls.key).take("ca", tls.ca);
}

void read_opensm(Keys& section, opensm::OpenSmEngineSettings& settings) {
  opensm::OpenSmSettings& opensm = settings.launcher.opensm;
  std::optional<Path> pid_file, log;
  section.take("program", settings.launcher.launch.program)
      .take("folder", settings.folder)
      .take("port", opensm.port)
      .take("priority", opensm.priority, read_number<0, 15>)
      .take("maxWireSmps", opensm.max_wire_smps, read_number<1, 256>)
      .take("sweepSeconds", opensm.sweep_interval, read_number<0, 3600>)
      .take("pollingMs", opensm.polling_timeout, read_number<100, 60'000>)
      .take("pollingRetries", opensm.polling_retries, read_number<1, 100>)
      .take("mKeyProtection", opensm.m_key_protection, read_number<0, 3>)
      .take("logMegabytes", opensm.log_megabytes, read_number<1, 10'000>)
      .take("qos", opensm.qos)
      .take("allowBothPkeys", opensm.allow_both_pkeys)
      .take("mKeyFile", opensm.keys.m_key)
      .take("smKeyFile", opensm.keys.sm_key)
      .take("saKeyFile", opensm.keys.sa_key)
      .take("moreOptionsFile", opensm.more)
      .take("pidFile", pid_file)
      .take("logFile", log);
  if (pid_file || log)
    settings.launcher.external =
        opensm::ExternalOpensm{pid_file.value_or(Path()), log.value_or(Path())};
}

void read_defaults(Keys& section, state::Policy& policy) {
  fabric::GroupFlags& group = policy.group;
  section.take("ipoib", policy.ipoib)
      .take("mtu", group.mtu, partitions::read_mtu)
      .take("rate", group.rate, partitions::read_rate)
      .take("sl", group.sl, partitions::read_sl);
}

void read_limits(Keys& section, state::RegistryLimits& limits) {
  section.take("membershipsOfNode", limits.memberships_of_node, read_number<1, 1'000'000>)
      .take("unseenPortsOfNode", limits.unseen_of_node, read_number<1, 1'000'000>);
}

// Names in the file are of clusters in the file.
void check_clusters(const fabric::ClusterNames& clusters, const std::vector<pool::GuidRange>& guids,
                    Errors& errors) {
  for (size_t i = 0; i < guids.size(); ++i)
    for (const std::string& name_space : guids[i].requested_by)
      errors.collect(fabric::check_cluster(clusters, name_space),
                     "guids[" + std::to_string(i) + "].chosenBy");
}

void check_clusters(const state::Policy& policy, Errors& errors) {
  for (const auto& [node, ports] : policy.nodes) {
    const bool has_cluster = node.find('/') != std::string::npos;
    if (has_cluster && !fabric::is_node_name(node))
      errors.add(unfit("nodes: expected CLUSTER/NAME or the name of a node, got \"" + node + "\""));
    else
      errors.collect(fabric::check_cluster(policy.clusters, node), "nodes");
  }
}

void read_keys(Keys& section, Config& config, Errors& errors) {
  std::vector<pool::PKeyRange> keys;
  std::vector<pool::GuidRange> guids;
  section.take("pkeys", keys, read_pkey_ranges).take("guids", guids, read_guid_ranges);
  Result<pool::PKeyPool> pkey_pool = pool::PKeyPool::make(keys);
  if (pkey_pool)
    config.policy.pkeys = *std::move(pkey_pool);
  else
    errors.collect(pkey_pool.error(), "pkeys");
  check_clusters(config.policy.clusters, guids, errors);
  Result<pool::GuidPool> guid_pool = pool::GuidPool::make(guids);
  if (guid_pool)
    config.policy.guids = *std::move(guid_pool);
  else
    errors.collect(guid_pool.error(), "guids");
}

void read_fabric(Keys& section, Config& config) {
  state::Policy& policy = config.policy;
  section.take("fabric", config.fabric)
      .take("defaultPartition", policy.default_rule, read_default_rule)
      .take("nodes", policy.nodes, read_nodes)
      .take("pfsByFirstClaim", policy.pfs_by_first_claim)
      .take("leaseSeconds", policy.lease, read_seconds<10, 86'400>)
      .take("leaseEnd", policy.at_lease_end, read_lease_end)
      .take("declaredPartitions", config.declared)
      .within("defaults", [&](Keys& defaults) { read_defaults(defaults, policy); })
      .within("limits", [&](Keys& limits) { read_limits(limits, policy.limits); });
}

constexpr std::string_view kListenAddress =
    "expected an IP address and a port, such as 0.0.0.0:7473, got ";

// Unlike metricsAddress it must not be a socket, or port 0 (any free port).
Result<http::Address> read_listen_address(const Value& value) {
  const std::string text = TRY(value.string());
  Result<http::Address> address = http::Address::parse(text);
  if (address && address->port != 0) return address;
  return value.wrong(std::string(kListenAddress) + "\"" + text + "\"");
}

void read_listening(Keys& section, Listening& listening, Errors& errors) {
  bool given = false;
  section.take("address", listening.address, [&](const Value& value) {
    given = true;
    return read_listen_address(value);
  });
  if (!given) errors.add(unfit("listen.address: " + std::string(kListenAddress) + "nothing"));
  read_tls(section, listening.tls);
}

void read_service(Keys& section, Config& config, Errors& errors) {
  section.take("stateDir", config.state_folder)
      .take("socket", config.socket)
      .take("metricsAddress", config.metrics)
      .take("roles", config.authority, api::read_role_rules)
      .take("clusters", config.clusters, api::read_clusters)
      .take("bindSeconds", config.call_timeout, read_seconds<1, 600>)
      .take("logLevel", config.log_level)
      .within("listen",
              [&](Keys& listen) { read_listening(listen, config.listening.emplace(), errors); });
}

void read_looking(Keys& section, Config& config) {
  section.take("device", config.port.device)
      .take("port", config.port.port, read_number<0, 254>)
      .take("window", config.window, read_number<1, 256>)
      .take("scanSeconds", config.scan, read_seconds<1, 3600>);
}

void check_listening(const Listening& listening, Errors& errors) {
  if (listening.tls.certificate.empty() || listening.tls.key.empty() || listening.tls.ca.empty())
    errors.add(
        unfit("listen: certificate, key and ca are required: without them callers cannot be "
              "authenticated"));
}

void check_opensm(const opensm::OpenSmEngineSettings& settings, unsigned sl, Errors& errors) {
  const opensm::OpenSmSettings& opensm = settings.launcher.opensm;
  const auto& others = settings.launcher.external;
  if (others && (others->pid_file.empty() || others->log.empty()))
    errors.add(unfit(
        "opensm: set both pidFile and logFile if OpenSM is managed externally, else neither"));
  if (opensm.m_key_protection > 0 && opensm.keys.m_key.empty())
    errors.add(unfit("opensm.mKeyProtection: " + std::to_string(opensm.m_key_protection) +
                     " has no effect without opensm.mKeyFile: set both"));
  if (sl != 0 && !opensm.qos)
    errors.add(unfit("defaults.sl: " + std::to_string(sl) +
                     " needs opensm.qos, without which OpenSM makes every service level 0: set "
                     "opensm.qos to true, or remove defaults.sl"));
  errors.collect(opensm::check(opensm::OpenSmPaths(settings.folder)),
                 "opensm.folder, or stateDir above it");
}

// Checks that need more than one key.
void check(const Config& config, Errors& errors) {
  errors.collect(state::check(config.policy));
  check_clusters(config.policy, errors);
  if (!is_dns_label(config.fabric))
    errors.add(unfit(
        R"(fabric: expected at most 63 lowercase letters, digits and "-" (not first or last), got ")" +
        config.fabric + "\""));  // the name that agents use
  if (config.listening) check_listening(*config.listening, errors);
  if (!config.clusters.empty() && !config.listening)
    errors.add(unfit("clusters: agents with tokens need a TCP endpoint: set listen"));
  if (config.engine == EngineKind::opensm)
    check_opensm(config.opensm, config.policy.group.sl, errors);
  errors.collect(check_ufm(config));
}

state::Policy::Unsupported unsupported_by(const Config& config) {
  switch (config.engine) {
    case EngineKind::ufm:
      return unsupported_by_ufm();
    case EngineKind::observe:
    case EngineKind::opensm:
      break;
  }
  const opensm::OpenSmSettings& opensm = config.opensm.launcher.opensm;
  state::Policy::Unsupported unsupported;
  if (!opensm.allow_both_pkeys) unsupported.both = "needs opensm.allowBothPkeys";
  if (config.engine == EngineKind::opensm && !opensm.qos)
    unsupported.sl =
        "OpenSM makes every service level 0 without qos: set opensm.qos to true in ibpod-sm's "
        "configuration, or leave sl out";
  return unsupported;
}

}  // namespace

Result<Config> read_config(std::string_view text) {
  const Value document = TRY(Value::parse(text, json::Comments::allowed));
  api::RoleRules no_rules = TRY(api::RoleRules::make({}));
  Config config{.authority = std::move(no_rules)};
  Errors errors;
  {
    Keys section(document, errors);
    read_service(section, config, errors);
    config.policy.clusters = api::names_of(config.clusters);
    read_fabric(section, config);
    read_keys(section, config, errors);
    section.take("engine", config.engine, read_engine)
        .within("opensm", [&](Keys& opensm) { read_opensm(opensm, config.opensm); })
        .within("ufm", [&](Keys& ufm) { read_ufm(ufm, config.ufm.emplace(), errors); })
        .within("look", [&](Keys& look) { read_looking(look, config); });
  }
  if (config.engine == EngineKind::ufm) refuse_without_effect(document, errors);
  config.policy.unsupported = unsupported_by(config);
  if (config.opensm.folder.empty()) config.opensm.folder = config.state_folder / "opensm";
  if (config.ufm) {
    config.ufm->engine.folder = config.state_folder / "ufm";
    config.ufm->engine.pkeys = config.policy.pkeys;
  }
  check(config, errors);
  TRY(errors.status());
  return config;
}

}  // namespace ibpod::sm::config
