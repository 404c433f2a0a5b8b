// ConfigFollower: the configuration that is in force. It follows the file and reports what it finds
// there.
#pragma once

#include "agent/config/reloader.h"
#include "agent/telemetry.h"

#include <string>
#include <utility>

namespace ibpod::agent {

// For the agent's own thread. The telemetry outlives it.
class ConfigFollower {
 public:
  ConfigFollower(config::Reloader reloader, Telemetry& telemetry)
      : reloader_(std::move(reloader)), telemetry_(telemetry) {}

  const config::Config& config() const { return reloader_.config(); }
  // The node's name, which selects sections of the file.
  const std::string& node() const { return reloader_.node(); }
  // True if plugins refuse a network that names no partition.
  bool needs_partitions() const;

  // A descriptor that is readable when the file may have changed, good until the next call. -1 if
  // there is none. Call this, then reload(), then wait: otherwise a change in between is missed.
  int watch();
  // Reads the file. True if it has another configuration, which is in force from now on. False also
  // if the file is refused: that is reported, and the last configuration stays in force.
  bool reload();
  // Writes the file that says whether plugins may attach anything while the agent does not run.
  void write_agent_required();
  // Reports private keys that others can read.
  void check_private_keys();

 private:
  config::Reloader reloader_;
  Telemetry& telemetry_;
};

}  // namespace ibpod::agent
