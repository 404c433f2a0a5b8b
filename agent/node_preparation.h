// NodePreparation: keeps the node as the configuration wants it: the RDMA namespace mode, the VFs
// of the PFs, and their GUIDs. It knows what is still missing, and when to try again.
#pragma once

#include "agent/config_follower.h"
#include "agent/gc/gc_run.h"
#include "agent/host.h"
#include "agent/prepare/rdma_mode.h"
#include "agent/sm_client/fabrics.h"
#include "agent/snapshot/snapshot.h"
#include "agent/telemetry.h"

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace ibpod::agent {

// For the agent's own thread. The constructor's arguments outlive it.
class NodePreparation {
 public:
  NodePreparation(const ConfigFollower& configuration, Host& host, Telemetry& telemetry)
      : config_(configuration), host_(host), telemetry_(telemetry) {}

  // Sets the RDMA namespace mode if the kernel has another one than the configuration wants.
  void set_rdma_mode();
  // Reads the mode again, by one netlink request.
  void refresh_rdma_mode();
  const prepare::RdmaModeStatus& rdma_mode() const { return rdma_mode_; }

  // Does what is missing at the PFs and their VFs, within two minutes. `fabrics`: where GUIDs are
  // from; null: there are none, and GUIDs are derived from the PF's.
  void prepare_pfs(sm_client::Fabrics* fabrics);
  // The same within ten seconds, in which the agent's thread does nothing else: for what an earlier
  // preparation left, and for new PFs.
  void prepare_again(sm_client::Fabrics* fabrics);
  // The problems of the last preparation, a sentence each.
  const std::vector<std::string>& errors() const { return errors_; }
  std::chrono::system_clock::time_point prepared_at() const { return prepared_at_; }

  // True if a preparation that failed may be possible now: a driver has come, a pod has gone. Every
  // ten minutes also if GUIDs of others give way, which may have been set since.
  bool should_retry(const gc::GcRun& gc_run) const;
  // True if there is a PF that the last call did not know: one that has come (or come back, maybe
  // without its VFs), or, with several fabrics, whose port has come up, which shows its fabric.
  bool has_new_pf(const snapshot::Snapshot& snapshot);

 private:
  prepare::RdmaNetns rdma_netns() const;
  void set_rdma_mode_status(prepare::RdmaModeStatus status);
  void prepare_until(sm_client::Fabrics* fabrics, Deadline deadline);

  const ConfigFollower& config_;
  Host& host_;
  Telemetry& telemetry_;
  prepare::RdmaModeStatus rdma_mode_;
  std::vector<std::string> errors_;
  std::chrono::system_clock::time_point prepared_at_ = {};  // the epoch: not yet
  bool replaces_guids_ = false;                             // in the last preparation
  Deadline next_look_ = Deadline::in(Duration(0));
  std::set<ib::PciAddress> pfs_, active_pfs_;  // that has_new_pf() knows
};

}  // namespace ibpod::agent
