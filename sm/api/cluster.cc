#include "sm/api/cluster.h"

#include "lib/base/dns_name.h"
#include "lib/https/address.h"
#include "lib/json/read.h"

#include <algorithm>
#include <optional>

namespace ibpod::sm::api {
namespace {

using json::Value;

// Each may have a connection of its own for its keys.
constexpr size_t kMostClusters = 64;

Result<std::string> read_cluster_name(const Value& value) {
  std::string name = TRY(value.string());
  if (is_dns_label(name)) return name;
  return value.wrong("expected at most 63 lowercase letters, digits and, inside, -, got " +
                     value.text());
}

// Compared with a claim byte by byte.
Result<std::string> read_claim(const Value& value, const std::string& meaning) {
  constexpr size_t kLongest = 1024;
  std::string claim = TRY(value.string());
  if (!claim.empty() && claim.size() <= kLongest) return claim;
  return value.wrong("expected " + meaning + " of the cluster's tokens, of at most " +
                     std::to_string(kLongest) + " bytes, got " + std::to_string(claim.size()));
}

Result<std::string> read_issuer(const Value& value) { return read_claim(value, "the issuer"); }

Result<std::string> read_audience(const Value& value) { return read_claim(value, "the audience"); }

Result<std::string> read_service_account(const Value& value) {
  const std::string text = TRY(value.string());
  const size_t slash = std::min(text.find('/'), text.size());
  const bool complete = slash < text.size() && is_dns_label(text.substr(0, slash)) &&
                        is_dns_subdomain(text.substr(slash + 1));
  if (complete) return text;
  return value.wrong("expected NAMESPACE/NAME, such as ibpod/ibpod-agent, got " + value.text());
}

Result<std::vector<std::string>> read_service_accounts(const Value& value) {
  std::vector<std::string> accounts = TRY(json::read_list(value, read_service_account));
  if (accounts.empty()) return value.wrong("expected at least one service account, got none");
  return accounts;
}

using Keys = decltype(Cluster::keys);

Result<std::string> read_url(const Value& value) {
  const std::string text = TRY(value.string());
  const Status right = https::check_url(text);
  if (right) return text;
  const bool plain = text.starts_with("http://");
  return value.wrong(
      right.error().text() +
      (plain ? ": without TLS every machine on the way could name its own keys" : ""));
}

Result<jwt::KeyEndpoint> read_endpoint(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  jwt::KeyEndpoint endpoint;
  for (const char* required : {"url", "ca"}) TRY(value.at(required));
  TRY(json::take(fields, "url", endpoint.url, read_url));
  TRY(json::take(fields, "ca", endpoint.ca, json::read_path));
  TRY(json::take(fields, "token", endpoint.token, json::read_path));
  TRY(json::refuse_unknown(value, fields));
  return endpoint;
}

Result<Keys> read_keys(const Value& value) {
  if (value.is_object()) {
    jwt::KeyEndpoint endpoint = TRY(read_endpoint(value));
    return Keys(std::move(endpoint));
  }
  if (!value.is_string())
    return value.wrong("expected a path, or an object with url, ca and token, got " + value.text());
  const std::string text = TRY(value.string());
  if (text.starts_with("https://") || text.starts_with("http://"))
    return value.wrong("expected a path, got a URL: write {\"url\": URL, \"ca\": PATH}");
  Path file = TRY(json::read_path(value));
  return Keys(std::move(file));
}

Result<Cluster> read_cluster(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  Cluster cluster;
  for (const char* required : {"name", "issuer", "keys"}) TRY(value.at(required));
  TRY(json::take(fields, "name", cluster.name, read_cluster_name));
  TRY(json::take(fields, "issuer", cluster.issuer, read_issuer));
  TRY(json::take(fields, "keys", cluster.keys, read_keys));
  TRY(json::take(fields, "serviceAccounts", cluster.service_accounts, read_service_accounts));
  TRY(json::take(fields, "audience", cluster.audience, read_audience));
  TRY(json::take(fields, "default", cluster.is_default));
  TRY(json::refuse_unknown(value, fields));
  return cluster;
}

// Two clusters must differ in what tells them apart.
Status check_apart(const Value& value, const Cluster& cluster, const Cluster& other) {
  const Value name = TRY(value.at("name"));
  const Value keys = TRY(value.at("keys"));
  if (cluster.name == other.name)
    return name.wrong("expected a name that no other cluster has, got " + name.text());
  if (cluster.is_default && other.is_default)
    return value.find("default").value_or(value).wrong("expected false, as " + other.name +
                                                       " is the default cluster, got true");
  if (cluster.issuer == other.issuer && cluster.keys == other.keys)
    return keys.wrong("expected other keys than those of cluster " + other.name +
                      ", which has the same issuer");
  if (cluster.issuer == other.issuer && cluster.audience == other.audience)
    return value.find("audience")
        .value_or(value)
        .wrong("cluster " + cluster.name + ": expected another audience than that of cluster " +
               other.name + ", which has the same issuer, such as ibpod-sm." + cluster.name +
               ", got " + Value(cluster.audience).ascii());
  return ok();
}

Status check_default_given(const Value& value) {
  const std::optional<Value> given = value.find("default");
  if (given && !given->is_null()) return ok();
  return value.wrong(
      "the key \"default\" is missing: of several clusters each one says true, if the names of its "
      "nodes and namespaces have no cluster in front, or false; at most one is true");
}

}  // namespace

Result<std::vector<Cluster>> read_clusters(const Value& value) {
  const std::vector<Value> elements = TRY(value.elements());
  if (elements.size() > kMostClusters)
    return value.wrong("expected at most " + std::to_string(kMostClusters) + " clusters, got " +
                       std::to_string(elements.size()));
  std::vector<Cluster> clusters;
  for (const Value& element : elements) {
    Cluster cluster = TRY(read_cluster(element));
    if (elements.size() > 1) TRY(check_default_given(element));
    for (const Cluster& other : clusters) TRY(check_apart(element, cluster, other));
    clusters.push_back(std::move(cluster));
  }
  return clusters;
}

fabric::ClusterNames names_of(const std::vector<Cluster>& clusters) {
  fabric::ClusterNames names;
  for (const Cluster& cluster : clusters)
    if (cluster.is_default)
      names.default_cluster = cluster.name;
    else
      names.others.insert(cluster.name);
  return names;
}

}  // namespace ibpod::sm::api
