// For any certificate names and any roles: no caller gets a role that no rule gives. The input has
// two parts with byte 0x1e between them: the roles, and a common name followed by the other names,
// one per line, as in rpc::Peer.
#include "lib/base/dns_name.h"
#include "sm/api/authn.h"
#include "tests/support/fuzz.h"

namespace ibpod::sm::api {
namespace {

using fuzz::require;

rpc::Peer peer_of(std::string_view text) {
  rpc::Peer peer;
  peer.names = fuzz::lines_of(text);
  if (peer.names.empty()) return peer;
  peer.common_name = peer.names.front();
  peer.names.erase(peer.names.begin());
  return peer;
}

bool some_rule_gives(const json::Value& roles, const fabricapi::Caller& caller) {
  const auto rules = roles.elements().value();
  return std::any_of(rules.begin(), rules.end(), [&](const json::Value& rule) {
    const auto match = NamePattern::parse(rule.at("match").value().string().value()).value();
    const std::string role = rule.at("role").value().string().value();
    return role == name(caller.role) && match.match(caller.name).has_value();
  });
}

void check_caller(const RoleRules& authority, const json::Value& roles, const rpc::Peer& peer) {
  constexpr size_t kMostText = 4000;  // the refusal is logged
  const auto caller = authority.identify(peer);
  if (!caller)
    return require(!caller.error().text().empty() && caller.error().text().size() <= kMostText);
  require(some_rule_gives(roles, *caller));
  require((caller->role == fabricapi::Role::node) == is_dns_subdomain(caller->node));
}

}  // namespace
}  // namespace ibpod::sm::api

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  std::string_view rest = fuzz::text_of(data, size);
  const auto roles = json::Value::parse(fuzz::next_part(rest));
  if (!roles) return 0;
  const auto authority = sm::api::read_role_rules(*roles);
  if (!authority) fuzz::check_refusal(authority.error(), size);
  if (authority) sm::api::check_caller(*authority, *roles, sm::api::peer_of(rest));
  return 0;
}
