// Identifies the caller of a connection, and its account.
#pragma once

#include "lib/fabricapi/caller.h"
#include "lib/rpc/authenticated_connections.h"
#include "lib/rpc/holder.h"
#include "lib/rpc/peer.h"
#include "sm/api/authn.h"
#include "sm/api/token_authenticator.h"

#include <functional>
#include <memory>
#include <string>

namespace ibpod::sm::api {

// Authenticates the caller; denied for an unknown one, unavailable if that is not known yet.
// Thread-safe.
using Identify = std::function<Result<fabricapi::Caller>(const rpc::Peer&)>;

// Tokens in place of certificates, and whose they were.
struct Tokens {
  const TokenAuthenticator* authenticator = nullptr;  // none: callers need a certificate
  std::shared_ptr<rpc::AuthenticatedConnections> connections = {};
};

// RoleRules::identify() or, for a caller without a certificate's names, TokenAuthenticator, if
// there is one; the connection then counts under account_of() its caller. Calls `on_unauthorized`
// for each that is denied, from any thread. `rules` and the TokenAuthenticator outlive it.
Identify authenticator(const RoleRules& rules, Tokens tokens,
                       std::function<void(const Error&)> on_unauthorized);

// The account of a connection: account_of() if its caller has a role, else "unauthorized " and its
// name, which is never the account of a caller with a role. `rules` outlives it.
rpc::Account accounts(const RoleRules& rules);

}  // namespace ibpod::sm::api
