// Sightings: what has been seen of each port, by whom, and which version of the partitions was in
// force when it was read. From it follows what is proved.
#pragma once

#include "lib/fabric/binding.h"
#include "lib/fabric/topology.h"
#include "sm/controller/node_observations.h"
#include "sm/controller/version_history.h"
#include "sm/probe/probe_result.h"
#include "sm/tables/desired_keys.h"
#include "sm/tables/table_diff.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace ibpod::sm::controller {

// What is known of one port.
struct Observation {
  probe::ProbeResult result;
  uint64_t applied = 0;  // the version in place when it was read
  uint64_t swept = 0;    // the version whose sweep was over then
  VersionHistory::Time at{};
};

// What follows for a port whose part of the partitions last changed in a version.
struct PortVerdict {
  enum class Kind {
    nothing,  // nothing has been seen since
    good,    // it holds what it should: proof and enforcement say who has seen it, and who keeps it
    wrong,   // it does not: verdict and standing say what
    unseen,  // nobody can tell: standing says why
  };
  Kind kind = Kind::nothing;
  fabric::Proof proof = fabric::Proof::none;
  fabric::Enforcement enforcement = fabric::Enforcement::unknown;
  tables::TableDiff diff = {};
  fabric::Condition condition = {};
  uint64_t version = 0;  // which was in force
  // It is wrong although the sweep of that version was over when it was read.
  bool drifted = false;
  // It is wrong in the table of the switch port, which drops what it does not hold.
  bool switch_port = false;
};

class PortObservations {
 public:
  // `own_port`: on which our subnet manager runs; nothing where that is not known, and the first
  // that says it is the master is believed.
  explicit PortObservations(std::optional<ib::Guid> own_port) : own_port_(own_port) {}

  // What is older than what is known of the port is dropped.
  void record(const probe::ProbeResult& reading, uint64_t placed, uint64_t swept,
              VersionHistory::Time at);
  // What the node says of its port. See NodeSights::take().
  Status record(const std::string& node, ib::Guid port, NodeObservation observation, size_t most) {
    return nodes_.record(node, port, std::move(observation), most);
  }
  // What nodes have said before that time.
  void forget_nodes(VersionHistory::Time before) { nodes_.forget_before(before); }
  // What a node has said of a port counts for nothing any more.
  void forget_node(ib::Guid port) { nodes_.forget(port); }
  // The ports that are there. Of those that are not, nothing is remembered.
  void record(std::shared_ptr<const fabric::Topology> topology);

  const fabric::Topology& topology() const { return *topology_; }
  const Observation* find_port(ib::Guid port) const;
  const NodeObservation* find_node_report(ib::Guid port) const { return nodes_.find(port); }
  const std::map<ib::Guid, Observation>& ports() const { return ports_; }
  const NodeObservations& node_reports() const { return nodes_; }
  // It has been on the subnet at some time.
  bool ever_seen(ib::Guid port) const { return ever_seen_.contains(port); }
  // It was on the subnet once, and is not now.
  bool has_disappeared(ib::Guid port) const {
    return ever_seen_.contains(port) && topology_->find(port) == nullptr;
  }
  // The port of the subnet manager.
  std::optional<ib::Guid> sm_port() const { return own_port_ ? own_port_ : master_; }
  // The subnet that is looked at is the subnet manager's, as far as can be told.
  bool of_own_subnet() const;

  // The port as the rules of partitions see it.
  fabric::EndPort end_port(ib::Guid port) const;

  PortVerdict verdict(ib::Guid port, uint64_t changed_in, const tables::DesiredKeys& desired) const;

 private:
  std::optional<PortVerdict> verdict_from_port(ib::Guid port, uint64_t changed_in,
                                               const tables::DesiredTable& desired) const;
  std::optional<PortVerdict> verdict_from_node(ib::Guid port, uint64_t changed_in,
                                               const tables::DesiredTable& desired) const;

  std::optional<ib::Guid> own_port_;
  std::shared_ptr<const fabric::Topology> topology_ = std::make_shared<fabric::Topology>();
  std::optional<ib::Guid> master_;
  std::map<ib::Guid, Observation> ports_;
  NodeObservations nodes_;
  std::set<ib::Guid> ever_seen_;  // ever
};

}  // namespace ibpod::sm::controller
