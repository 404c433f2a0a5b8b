// Daemon: all of ibpod-sm: the store with the registry in it, the subnet manager, the prober, the
// controller between them, and the servers.
#pragma once

#include "lib/log/log.h"
#include "sm/config/config.h"

#include <memory>

namespace ibpod::sm {

class Daemon {
 public:
  // Everything that can be refused is refused here, before anything is changed: a store that is
  // damaged or another process's, ranges that do not cover what is promised, a port that cannot be
  // opened, certificates that cannot be used. `log` outlives it.
  static Result<std::unique_ptr<Daemon>> start(const config::Config& config, log::Log& log);
  // Answers the calls that wait, and ends. The registry is on disk, and OpenSM goes on unchanged.
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  Daemon(Daemon&&) = delete;
  Daemon& operator=(Daemon&&) = delete;

 private:
  struct Parts;
  explicit Daemon(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace ibpod::sm
