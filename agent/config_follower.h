// Configuration: the configuration that is in force. It follows the file, reports what it finds
// there, and has what depends on the configuration alone.
#pragma once

#include "agent/config/reloader.h"
#include "agent/telemetry.h"

#include <string>

namespace ibpod::agent {

// For the agent's own thread. The telemetry outlives it.
class Configuration {
 public:
  Configuration(config::Reloader reloader, Telemetry& telemetry)
      : reloader_(std::move(reloader)), telemetry_(telemetry) {}

  const config::Config& config() const { return reloader_.config(); }
  // The node's name, which selects sections of the file.
  const std::string& node() const { return reloader_.node(); }
  // True if plugins refuse a network that names no partition.
  bool needs_partitions() const;

  // A descriptor that is readable when the file may have changed, good until the next call. -1 if
  // there is none.
  int watch();
  // Reads the file. True if it has another configuration, which is in force from now on.
  bool reload();
  // Writes the file that says if plugins may attach anything while the agent does not run, and
  // checks the access to private keys.
  void apply();

 private:
  config::Reloader reloader_;
  Telemetry& telemetry_;
};

}  // namespace ibpod::agent
