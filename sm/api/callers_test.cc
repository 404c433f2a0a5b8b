#include "sm/api/callers.h"

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

TEST_CASE("a caller with a role has one account for all its certificates; no other caller has it") {
  const auto rule = [](const char* match, fabricapi::Role role) {
    return RoleRule{NamePattern::parse(match).value(), role};
  };
  const RoleRules authority = RoleRules::make({rule("DNS=*.nodes", fabricapi::Role::node),
                                               rule("CN=system:node:*", fabricapi::Role::node),
                                               rule("CN=admin", fabricapi::Role::administrator)})
                                  .value();
  const rpc::Account account = accounts(authority);
  CHECK(account({.common_name = "ibpod-agent", .names = {"DNS=n1.nodes"}}) == "node n1");
  CHECK(account({.common_name = "system:node:n1", .names = {}}) == "node n1");
  CHECK(account({.common_name = "ibpod-agent", .names = {"DNS=n2.nodes"}}) == "node n2");
  CHECK(account({.common_name = "admin", .names = {}}) == "CN=admin");
  CHECK(account({.common_name = "node n1", .names = {}}) == "unauthorized node n1");
  CHECK(account({.common_name = "admin", .names = {"DNS=n1.nodes", "DNS=n2.nodes"}}) ==
        "unauthorized admin");
}

}  // namespace
}  // namespace ibpod::sm::api
