#include "sm/api/callers.h"

#include <utility>

namespace ibpod::sm::api {

using fabricapi::Caller;

Identify authenticator(const RoleRules& rules, Tokens tokens,
                       std::function<void(const Error&)> on_unauthorized) {
  return [&rules, tokens = std::move(tokens),
          on_unauthorized = std::move(on_unauthorized)](const rpc::Peer& peer) {
    // A certificate decides alone: nothing that a call says changes who its connection is.
    const bool certified = peer.local || !peer.common_name.empty() || !peer.names.empty();
    const bool by_token = tokens.authenticator != nullptr && !certified;
    Result<Caller> caller =
        by_token ? tokens.authenticator->identify(peer.authorization) : rules.identify(peer);
    if (caller && by_token && tokens.connections != nullptr)
      tokens.connections->set(peer.connection, account_of(*caller));
    if (!caller && caller.error().code() == Code::denied) on_unauthorized(caller.error());
    return caller;
  };
}

rpc::Account accounts(const RoleRules& rules) {
  return [&rules](const rpc::Peer& peer) {
    const Result<Caller> caller = rules.identify(peer);
    return caller ? account_of(*caller) : "unauthorized " + rpc::holder_of(peer);
  };
}

}  // namespace ibpod::sm::api
