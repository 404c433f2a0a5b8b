// The configuration's section "pfs": which PFs the agent prepares, and how. Each entry chooses PFs
// of the node it is read on; the first entry that chooses a PF has it.
#pragma once

#include "agent/prepare/derive_guids.h"
#include "lib/json/value.h"
#include "lib/node/kernel.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::agent::prepare {

struct PfConfig {
  std::string path;  // where it stands: "pfs[0]"

  // Which PFs: all that are given have to fit, and at least one is given. As in the nicSelector of
  // the SR-IOV network operator.
  std::optional<uint16_t> vendor;            // "15b3"
  std::optional<uint16_t> device;            // deviceID "101b"
  std::vector<ib::PciAddress> root_devices;  // one of these addresses
  std::vector<std::string> pf_names;         // an interface or an altname of it is one of these

  std::optional<uint32_t> vfs;  // numVfs, at most kMostVfs; nothing: those that there are
  // True if settings of an administrator (number of VFs, GUIDs, link policy, autoprobe) are
  // overwritten.
  bool force = false;
  // True if GUIDs that others have set give way to those of the pool, in VFs that nothing uses
  // (guids: "pool").
  bool pool_guids = false;
  // True if VFs of a PF are made, removed or given GUIDs although the host uses the PF itself
  // (allowHostUse).
  bool allow_host_use = false;
  bool operator==(const PfConfig&) const = default;
};

struct PfConfigs {
  std::vector<PfConfig> pfs;  // those without an error, in their order
  // Each names the path, the value and what would be right.
  std::vector<Error> errors;
};

// `list` is the value of "pfs".
PfConfigs parse_pf_configs(const json::Value& list);

// True if the entry selects this PF, whose interfaces in the host's namespace are `netdevs`.
bool matches_pf(const PfConfig& config, const node::Pf& pf,
                const std::vector<node::Netdev>& netdevs);

}  // namespace ibpod::agent::prepare
