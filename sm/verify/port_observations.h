// PortObservations: the last observation of each port, by the prober and by its node, with the
// version of the partitions that was in place when it was read. finding() derives what that proves.
#pragma once

#include "lib/fabric/binding.h"
#include "lib/fabric/topology.h"
#include "sm/probe/probe_result.h"
#include "sm/verify/desired_keys.h"
#include "sm/verify/engine_progress.h"
#include "sm/verify/node_observations.h"
#include "sm/verify/table_diff.h"
#include "sm/verify/version_history.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace ibpod::sm::verify {

struct Observation {
  probe::ProbeResult result;
  uint64_t applied = 0;  // the version that was in place when it was read
  uint64_t swept = 0;    // the last version that a sweep had applied then
  VersionHistory::Time at{};
};

// The result of a port's observations for its keys, which last changed in a given version.
struct TableFinding {
  enum class Kind {
    nothing,  // no observation since that version
    good,     // the table is right; see `proof` and `enforcement`
    wrong,    // the table is wrong; see `diff` and `condition`
    unseen,   // the table cannot be read; see `condition`
  };
  Kind kind = Kind::nothing;
  fabric::Proof proof = fabric::Proof::none;
  fabric::Enforcement enforcement = fabric::Enforcement::unknown;
  TableDiff diff = {};
  fabric::Condition condition = {};
  uint64_t version = 0;  // the version in place at the reading
  uint64_t swept = 0;    // the last version that a sweep had applied then
  // True if the table is wrong although a sweep had applied that version when it was read.
  bool drifted = false;
  // True if the wrong table is that of the enforcing switch port.
  bool switch_port = false;
};

class PortObservations {
 public:
  // `own_port`: the port of our subnet manager; nothing: not known, then the master found by the
  // last scan is used.
  explicit PortObservations(std::optional<ib::Guid> own_port) : own_port_(own_port) {}

  // Ignores a reading that is older than the known one.
  void record(const probe::ProbeResult& reading, const ForcedVersions& versions,
              VersionHistory::Time at);
  // Records a node's report of its port: see NodeObservations::record().
  Status record(const std::string& node, ib::Guid port, NodeObservation observation, size_t most) {
    return nodes_.record(node, port, std::move(observation), most);
  }
  // Drops node reports from before that time.
  void forget_nodes(VersionHistory::Time before) { nodes_.forget_before(before); }
  // Drops the node report of the port.
  void forget_node(ib::Guid port) { nodes_.forget(port); }
  // Sets the topology. If it is complete, drops the observations of ports that are not in it.
  void record(std::shared_ptr<const fabric::Topology> topology);
  // A full scan has set the topology; it began at that time.
  void set_last_scan(VersionHistory::Time began) { last_scan_ = began; }
  // The start of the last full scan; nothing: none has ended yet.
  std::optional<VersionHistory::Time> last_scan() const { return last_scan_; }

  const fabric::Topology& topology() const { return *topology_; }
  const Observation* find_port(ib::Guid port) const;
  const NodeObservation* find_node_report(ib::Guid port) const { return nodes_.find(port); }
  const std::map<ib::Guid, Observation>& ports() const { return ports_; }
  const NodeObservations& node_reports() const { return nodes_; }
  // True if a scan has ever found the port.
  bool ever_seen(ib::Guid port) const { return ever_seen_.contains(port); }
  // True if a scan has found the port, but the last one has not.
  bool has_disappeared(ib::Guid port) const {
    return ever_seen_.contains(port) && topology_->find(port) == nullptr;
  }
  // The port of the subnet manager.
  std::optional<ib::Guid> sm_port() const { return own_port_ ? own_port_ : master_; }
  // False if the scanned subnet lacks the subnet manager's port.
  bool of_own_subnet() const;

  // The port as partition definitions match it.
  fabric::EndPort end_port(ib::Guid port) const;

  TableFinding finding(ib::Guid port, uint64_t changed_in, const DesiredKeys& desired) const;

 private:
  std::optional<TableFinding> finding_from_port(ib::Guid port, uint64_t changed_in,
                                                const DesiredTable& desired) const;
  std::optional<TableFinding> finding_from_node(ib::Guid port, uint64_t changed_in,
                                                const DesiredTable& desired) const;

  std::optional<ib::Guid> own_port_;
  std::shared_ptr<const fabric::Topology> topology_ = std::make_shared<fabric::Topology>();
  std::optional<ib::Guid> master_;
  std::optional<VersionHistory::Time> last_scan_;
  std::map<ib::Guid, Observation> ports_;
  NodeObservations nodes_;
  std::set<ib::Guid> ever_seen_;
};

}  // namespace ibpod::sm::verify
