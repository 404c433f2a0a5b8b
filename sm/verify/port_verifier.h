// PortVerifier: decides which ports are verified, and which P_Key tables must be repaired.
//
// Inputs: the status of the subnet manager, the tables read by the prober and the nodes, and the
// desired keys. Output: verdicts, which the caller applies to the bindings in their order. For one
// thread; it has no clock and changes nothing else.
#pragma once

#include "lib/fabric/binding.h"
#include "sm/probe/repair.h"
#include "sm/verify/desired_keys.h"
#include "sm/verify/engine_progress.h"
#include "sm/verify/port_faults.h"
#include "sm/verify/port_observations.h"
#include "sm/verify/port_requests.h"
#include "sm/verify/repair_queue.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::verify {

// A decision about a port.
struct PortVerdict {
  enum class Kind {
    condition,  // not verified; `condition` has the reason
    verified,   // its table is as desired: `version`, `proof`, `enforcement`
    present,    // the same, but keys that it must not have may come back: none counts as removed
    clean,      // it holds no key that must be removed: `version`
    absent,     // no scan finds it: keys given since the last scan that found it never reached it
    drifted,    // its table was right before; see `condition`
  };
  ib::Guid port;
  Kind kind = Kind::condition;
  fabric::Condition condition = {};
  uint64_t version = 0;
  fabric::Proof proof = fabric::Proof::none;
  fabric::Enforcement enforcement = fabric::Enforcement::unknown;
  bool operator==(const PortVerdict&) const = default;
};
using PortVerdicts = std::vector<PortVerdict>;

class PortVerifier {
 public:
  using Time = VersionHistory::Time;

  struct Settings {
    std::string epoch;  // unique to this process
    // The port of the subnet manager, if known.
    std::optional<ib::Guid> own_port = {};
    // How long a node's report of a port is valid if the port itself cannot be read.
    Duration node_report_lifetime{180'000};
  };
  // `requests` must outlive the verifier.
  PortVerifier(Settings settings, const PortRequests& requests);

  // The keys of all partitions, and those of the default and the manual partitions alone.
  void set_desired(DesiredKeys all, DesiredKeys unmanaged);

  // See EngineProgress::update().
  EngineProgress::Change engine_changed(const engine::EngineStatus& status,
                                        const engine::Capabilities& capabilities, Time now) {
    return engine_.update(status, capabilities, now);
  }
  // Read the faults after the status of engine_changed(). Returns conditions for the ports that
  // have a new fault, or none any more.
  PortVerdicts set_port_faults(const std::vector<engine::PortFault>& faults);
  // Returns conditions for the ports whose tables, right as they are, have a key of a partition
  // that is not in place at all.
  PortVerdicts set_partition_faults(const std::vector<engine::PartitionFault>& faults, Time now);
  // By P_Key (15 bits), the text.
  const std::map<uint16_t, std::string>& partition_faults() const { return faults_.partitions(); }
  // The present health: repairs are planned only if the tables are ours to write.
  void set_engine_health(engine::Health health) { engine_.set_health(health); }

  // Records a batch of the prober. Call verdicts_of() with the same batch next.
  void record(const probe::ProbeBatch& batch, Time now);
  PortVerdicts verdicts_of(const probe::ProbeBatch& batch, Time now);

  // Records a node's report of a table, which check_report() has accepted. `stamp`: the one in the
  // last answer to that node. busy if the node reports more than `max_entries` entries in total.
  Result<PortVerdicts> record_report(const std::string& node, ib::Guid port,
                                     const ib::PKeyTable& table, std::string_view stamp,
                                     size_t max_entries, Time now);
  void forget_report(ib::Guid port) { observations_.forget_node(port); }

  // Returns the planned repairs, which are then under way, and the ports to read again soon because
  // of repairs.
  std::vector<probe::Repair> take_repairs();
  std::set<ib::Guid> unsettled() const { return repairs_.unsettled(); }

  const EngineProgress& engine() const { return engine_; }
  const PortObservations& observations() const { return observations_; }
  const DesiredKeys& desired() const { return desired_; }
  // The keys of the default and the manual partitions.
  DesiredTable unmanaged_keys(ib::Guid port) const {
    return unmanaged_.of(observations_.end_port(port));
  }

 private:
  void verify(ib::Guid port, Time now, PortVerdicts& verdicts);
  void verify_absent_ports(Time now, PortVerdicts& verdicts);
  void verify_good(ib::Guid port, const TableFinding& finding, PortVerdicts& verdicts);
  void verify_unseen(ib::Guid port, const fabric::Condition& condition, PortVerdicts& verdicts);
  DesiredTable desired_of(ib::Guid port) const { return desired_.of(observations_.end_port(port)); }
  std::optional<std::string> partition_fault(ib::Guid port) const;
  bool may_get_keys_back(ib::Guid port, const TableFinding& finding) const;
  void plan_repair(ib::Guid port, const TableFinding& finding, Time now, PortVerdicts& verdicts);

  Settings settings_;
  const PortRequests& requests_;
  DesiredKeys desired_;
  DesiredKeys unmanaged_;
  EngineProgress engine_;
  PortFaults faults_;
  PortObservations observations_;
  RepairQueue repairs_;
};

}  // namespace ibpod::sm::verify
