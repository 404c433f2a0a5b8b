// Daemon: all parts of ibpod-sm: the store and the registries, the subnet manager, the prober, the
// controller, and the servers.
#pragma once

#include "lib/log/log.h"
#include "sm/config/config.h"

#include <memory>

namespace ibpod::sm {

class Daemon {
 public:
  // Every check that can refuse the start comes before the first change: a damaged store or another
  // process's, a P_Key in use outside the ranges, a port that cannot be opened, unusable
  // certificates. `log` outlives it.
  static Result<std::unique_ptr<Daemon>> start(const config::Config& config, log::Log& log);
  // Answers the waiting calls, and ends. The state is on disk, and OpenSM runs on unchanged.
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
