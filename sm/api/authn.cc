#include "sm/api/authn.h"

#include "lib/base/dns_name.h"
#include "lib/base/join.h"
#include "lib/json/read.h"

#include <algorithm>
#include <array>

namespace ibpod::sm::api {
namespace {

using fabricapi::Caller;
using fabricapi::Role;
using json::Value;

std::vector<std::string> names_of(const rpc::Peer& peer) {
  std::vector<std::string> names = peer.names;
  if (!peer.common_name.empty()) names.insert(names.begin(), "CN=" + peer.common_name);
  return names;
}

// For the log: limits the number of names, as a certificate may have thousands.
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMostListed = 8;
  return join_first(kMostListed, names,
                    [](const std::string& name) { return name.substr(0, 300); });
}

// The limit is above any node name and SPIFFE ID: each log line has the name.
Status check_lengths(const std::vector<std::string>& names) {
  constexpr size_t kMostName = 2048;
  for (const std::string& name : names)
    if (name.size() > kMostName)
      return Error(Code::denied, "a name in the certificate has " + std::to_string(name.size()) +
                                     " bytes: expected at most " + std::to_string(kMostName));
  return ok();
}

Error no_node(const std::string& name) {
  return Error(Code::denied, "the certificate's name " + name + " contains no valid node name");
}

// The caller that this rule gives to the certificate's names; nullopt if none matches.
Result<std::optional<Caller>> match_rule(const RoleRule& rule,
                                         const std::vector<std::string>& names) {
  std::optional<Caller> caller;
  for (const std::string& name : names) {
    const std::optional<std::string> star = rule.match.match(name);
    if (!star) continue;
    const std::string node = rule.role == Role::node ? *star : "";
    if (rule.role == Role::node && !is_dns_subdomain(node)) return no_node(name);
    if (caller && caller->node != node) {
      return Error(Code::denied, "the certificate names two nodes, " + caller->node + " and " +
                                     node + ": expected one");
    }
    if (!caller) caller = Caller{rule.role, node, name};
  }
  return caller;
}

Status check(const RoleRule& rule) {
  const std::string text = "\"" + rule.match.text() + "\"";
  if (rule.role == Role::node && !rule.match.has_star())
    return Error(Code::invalid, text + ": a rule with role node needs a * for the node name");
  if (rule.role == Role::administrator && rule.match.matches_all())
    return Error(Code::invalid, text + " would make every caller an administrator");
  return ok();
}

Result<Role> read_role(const Value& value) {
  return json::read_word<Role>(
      value,
      {{"administrator", Role::administrator}, {"node", Role::node}, {"reader", Role::reader}});
}

Result<NamePattern> read_pattern(const Value& value) {
  const std::string text = TRY(value.string());
  Result<NamePattern> pattern = NamePattern::parse(text);
  if (!pattern) return value.wrong(pattern.error().text());
  return pattern;
}

Result<RoleRule> read_rule(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  const Value match = TRY(value.at("match"));
  const Value role = TRY(value.at("role"));
  RoleRule rule;
  TRY(json::take(fields, "match", rule.match, read_pattern));
  TRY(json::take(fields, "role", rule.role, read_role));
  TRY(refuse_unknown(value, fields));
  const Status checked = check(rule);
  if (!checked) return match.wrong(checked.error().text());
  return rule;
}

}  // namespace

Result<RoleRules> RoleRules::make(std::vector<RoleRule> rules) {
  std::vector<std::string> seen;
  for (const RoleRule& rule : rules) {
    TRY(check(rule));
    const std::string text = rule.match.text();
    if (std::find(seen.begin(), seen.end(), text) != seen.end())
      return Error(Code::invalid, "\"" + text + "\" is listed twice");
    seen.push_back(text);
  }
  return RoleRules(std::move(rules));
}

Result<Caller> RoleRules::identify(const rpc::Peer& peer) const {
  if (peer.local) return Caller{Role::administrator, "", "unix socket"};
  const std::vector<std::string> names = names_of(peer);
  if (names.empty()) return Error(Code::denied, "the caller has no certificate, or no name in it");
  TRY(check_lengths(names));
  for (const RoleRule& rule : rules_) {
    const std::optional<Caller> caller = TRY(match_rule(rule, names));
    if (caller) return *caller;
  }
  return Error(Code::denied, "certificate matches no role: " + listed(names));
}

Result<RoleRules> read_role_rules(const Value& value) {
  std::vector<RoleRule> rules = TRY(json::read_list(value, read_rule));
  Result<RoleRules> authority = RoleRules::make(std::move(rules));
  if (!authority) return value.wrong(authority.error().text());
  return authority;
}

}  // namespace ibpod::sm::api
