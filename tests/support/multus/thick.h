// Thick: Multus in two halves, a shim that is the plugin, and a daemon in which the calls are made.
// Here the daemon only says that it is there, at the socket where Multus's listens, and the shim
// makes the call itself: what it is for is how the shim behaves while there is none.
#pragma once

#include "lib/base/clock.h"
#include "lib/cni/plugin.h"

#include <functional>

namespace ibpod::multus {

using Reachable = std::function<bool(const Path& socket)>;

// True if a process listens there.
bool is_reachable(const Path& socket);
// The daemon: takes connections until it is killed.
Status run_daemon(const Path& folder);

// Thin where the configuration has no daemonSocketDir.
class Shim : public cni::Plugin {
 public:
  // `patience`: how long all but DEL wait for the daemon (Multus: a minute).
  Shim(cni::Plugin& inner, Reachable reachable, Duration timeout)
      : inner_(inner), reachable_(std::move(reachable)), timeout_(timeout) {}

  void prepare(const cni::Call&, const json::Value&) override {}
  Status configure(const cni::Call& call, const cni::Network& network) override;
  Result<cni::AddResult> add() override;
  // Never fails; does nothing where there is no daemon, and nobody does it later.
  Status del() override;
  Status check() override;
  Status gc() override;
  Status status() override;

 private:
  Status await_daemon(const char* verb) const;

  cni::Plugin& inner_;
  Reachable reachable_;
  Duration timeout_;
  Path socket_;
};

}  // namespace ibpod::multus
