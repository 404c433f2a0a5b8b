// Ends an attachment as the container runtime does: by a call of the plugin that made it. So there
// is one code path for both, and the IPAM plugins and leases are the host's.
#pragma once

#include "agent/gc/gc_deps.h"
#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/cni/request.h"

namespace ibpod::agent::gc {

// The folders of plugins and the environment that they run in, all as the host has it.
struct PluginSettings {
  Path folder{"/opt/cni/bin"};
  Path mount_namespace;      // the host's (lib/base/run_on_thread.h); empty: ours
  Path state_folder;         // where the records are
  Duration timeout{90'000};  // of one call; above what a plugin allows itself by default
};

// Calls the plugin's DEL with what its ADD was called with, without a namespace, as that is gone,
// and with IBPOD_ATTEMPT (lib/attach/release.h). A record that cannot be read is left to the
// plugin's GC, with all others as valid attachments.
//
// An error tells the plugin's path and why: it cannot be started (it is not there), timed out and
// was killed, it complained (its own words and code), or left with another exit code than 0. A
// complaint counts even with exit code 0. The end of what it wrote to stderr is in the details.
// Plugins die with the calling thread (lib/base/process.h): it has to be one that lives as long as
// the process.
class InstalledPlugins : public Plugins {
 public:
  explicit InstalledPlugins(PluginSettings place) : settings_(std::move(place)) {}
  Status del(const node::Record& record) override;
  Status collect(const node::RecordName& damaged,
                 const std::vector<node::RecordName>& others) override;
  Status remove_strays(const std::vector<node::RecordName>& recorded) override;

 private:
  Status collect_all_but(const std::string& plugin, const std::vector<node::RecordName>& valid);
  Status call(const std::string& plugin, cni::Verb verb, cni::Environment environment,
              const std::string& configuration);
  PluginSettings settings_;
};

}  // namespace ibpod::agent::gc
