// PortVerifier: decides which ports are verified, and which P_Key tables must be repaired.
//
// Inputs: the status of the subnet manager, the tables read by the prober and the nodes, and the
// desired keys. Output: verdicts, which the caller applies to the bindings in their order. For one
// thread; it has no clock and changes nothing else.
#pragma once

#include "lib/fabric/binding.h"
#include "sm/engine/subnet_manager.h"
#include "sm/probe/repair.h"
#include "sm/verify/desired_keys.h"
#include "sm/verify/port_faults.h"
#include "sm/verify/port_observations.h"
#include "sm/verify/port_requests.h"
#include "sm/verify/repair_queue.h"
#include "sm/verify/version_history.h"

#include <map>
#include <memory>
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

// The ports of the subnet, as counted by one full scan.
struct PortCounts {
  size_t ports = 0;    // total
  size_t missing = 0;  // lacking a key
  size_t foreign = 0;  // with a key that no partition assigns
  size_t unseen = 0;   // named by a partition, but not found
  bool operator==(const PortCounts&) const = default;
};

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

  // Read `now` after `status`: a table that was read earlier may be of an older version.
  struct EngineChange {
    bool tables_lost = false;  // other partitions may have been in force: nothing is verified
    bool has_swept = false;    // a sweep has applied a newer version
    bool first_sweep = false;  // earlier readings may be of another subnet manager
  };
  EngineChange engine_changed(const engine::EngineStatus& status,
                              const engine::Capabilities& capabilities, Time now);
  // Read the faults after the status of engine_changed(). Returns conditions for the ports that
  // have a new fault, or none any more.
  PortVerdicts set_port_faults(const std::vector<engine::PortFault>& faults);

  // The present health: repairs are planned only if the tables are ours to write.
  void set_engine_health(engine::Health health) { engine_.health = health; }

  // Records a batch of the prober. Call verdicts_of() with the same batch next.
  void record(const probe::ProbeBatch& batch, Time now);
  PortVerdicts verdicts_of(const probe::ProbeBatch& batch, Time now);
  // Call after the verdicts of a full scan have been applied.
  PortCounts counts() const;

  // Records a node's report of a table. `stamp`: the one in the last answer to that node. invalid
  // if the port has fewer entries; busy if the node reports more than `max_entries` entries in
  // total.
  Status check_report(ib::Guid port, const ib::PKeyTable& table) const;
  Result<PortVerdicts> record_report(const std::string& node, ib::Guid port,
                                     const ib::PKeyTable& table, std::string_view stamp,
                                     size_t max_entries, Time now);
  void forget_report(ib::Guid port) { observations_.forget_node(port); }
  std::string stamp() const { return applied_.stamp() + "/" + swept_.stamp(); }

  // Returns the planned repairs, which are then under way, and the ports to read again soon because
  // of repairs.
  std::vector<probe::Repair> take_repairs();
  std::set<ib::Guid> unsettled() const { return repairs_.unsettled(); }

  uint64_t applied() const { return applied_.newest(); }
  uint64_t swept() const { return swept_.newest(); }
  const PortObservations& observations() const { return observations_; }
  const DesiredKeys& desired() const { return desired_; }
  // The keys of the default and the manual partitions.
  DesiredTable unmanaged_keys(ib::Guid port) const;
  // The start of the last full scan; nothing: none has ended yet.
  std::optional<Time> last_scan() const { return last_scan_; }
  // True if a complete scan of our own subnet has found no port with this GUID.
  bool is_absent(ib::Guid port) const;
  // False only if a full scan has shown that the port is not on the subnet.
  bool may_be_present(ib::Guid port) const;
  // True if neither the prober nor the node has read the port's table.
  bool is_silent(ib::Guid port) const;
  // True if a reading of the port or of its switch port shows the P_Key.
  bool is_known_to_hold(ib::Guid port, ib::PKey pkey) const;
  // The fault if the scanned subnet lacks the subnet manager's port; empty: no fault.
  std::string wrong_subnet() const;

 private:
  void verify(ib::Guid port, Time now, PortVerdicts& verdicts);
  void verify_absent_ports(Time now, PortVerdicts& verdicts);
  void plan_repair(ib::Guid port, const TableFinding& finding, Time now, PortVerdicts& verdicts);
  void verify_unseen(ib::Guid port, const fabric::Condition& condition, PortVerdicts& verdicts);
  enum class Absence;
  Absence classify_absence(ib::Guid port, fabric::Reason reason) const;
  bool is_released_with_node(const fabric::Binding& binding) const;
  bool is_visible_while_bound(const fabric::Binding& binding) const;
  bool has_virtual_ports() const;
  bool tables_prove_something() const;
  bool may_get_keys_back(ib::Guid port, const TableFinding& finding) const;
  fabric::Condition with_fault(ib::Guid port, fabric::Condition condition) const;
  fabric::Condition why_unseen(ib::Guid port, const fabric::Condition& condition) const;
  bool awaits_sm(ib::Guid port, const ib::PKeyTable& table) const;

  // The subnet manager as it was last reported.
  struct Engine {
    uint64_t losses = 0;     // table resets that it has reported
    uint64_t rollbacks = 0;  // times that it returned to an older version
    engine::Capabilities capabilities;
    engine::Health health = engine::Health::starting;
    PortFaults faults;
  };

  Settings settings_;
  const PortRequests& requests_;
  DesiredKeys desired_;
  DesiredKeys unmanaged_;
  Engine engine_;
  VersionHistory applied_, swept_;
  std::optional<Time> last_scan_;
  PortObservations observations_;
  RepairQueue repairs_;
};

}  // namespace ibpod::sm::verify
