// SubnetManager: makes a subnet enforce partitions. OpenSm gives them to an OpenSM;
// PassiveSubnetManager writes nothing, because another subnet manager owns the tables.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/fabric/partition_definition.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::opensm {

// A closed set: a label of metrics, too.
enum class Health {
  starting,     // nothing is wrong; nothing is known either
  serving,      // the subnet manager is master and has the file
  gone,         // there is no subnet manager
  not_master,   // another one on the subnet is master
  other_file,   // the subnet manager runs on another configuration than ours
  failed_open,  // it has thrown the partitions away: every port is in the default partition, full
  refused,      // the partitions cannot be put into place
  stuck,        // a sweep does not begin or does not end
};
std::string_view name(Health health);

struct EngineStatus {
  Health health = Health::starting;
  bool port_down = false;  // it is not_master because the link of its own port is down
  // The fault and its remedy, for people. While serving it is empty, or undone_edit.
  std::string trouble;
  // The edit of our file by another user that was undone, and why; empty: none, or it has been
  // corrected or withdrawn since.
  std::string undone_edit;
  // Why a memory limit of ibpod-sm's may end the subnet manager, too; empty: it cannot.
  std::string shared_cgroup;
  // Why the subnet manager, which runs, could not be started again; empty: it could.
  std::string start_refused;
  // Every sweep that begins from now on reads this version, or a later one, and none that goes on
  // reads an older one. 0 while something that is not ours is in the version's place.
  uint64_t placed = 0;
  // The sweep that read this version is over, also where some port did not answer in it. What a
  // port's table shows from now on is no work of an older version. Never above `placed`; 0 again
  // where something that is not ours has been in the version's place, where the administrator's
  // section has changed, and where another subnet manager has become master.
  uint64_t swept = 0;
  // Counts since the engine's start.
  uint64_t sweeps = 0;            // heavy ones that are over
  uint64_t failed_sweeps = 0;     // of these, those in which some port did not answer
  uint64_t hups = 0;              // sweeps that we have asked for
  uint64_t fail_opens = 0;        // times that the subnet manager threw the file away
  uint64_t violations = 0;        // times that something not ours was found in its place
  uint64_t restores = 0;          // times that our file was put back
  uint64_t edits = 0;             // times that the administrator's section was taken over again
  uint64_t losses = 0;            // times that another subnet manager became master
  uint64_t full_tables = 0;       // times that a key found no room in a port's table
  uint64_t enforcement_lost = 0;  // times that a switch port's enforcement was switched off
  uint64_t starts = 0;            // times that the subnet manager was started, or found again
  Duration last_sweep{};          // from its beginning to its end
  bool operator==(const EngineStatus&) const = default;
};

using Partitions = std::shared_ptr<const std::vector<fabric::PartitionDefinition>>;

// Its calls are for any thread.
class SubnetManager {
 public:
  // Called on the engine's own thread when status() has changed. It must be short, and may call
  // nothing of the engine but status().
  using OnChange = std::function<void()>;

  SubnetManager() = default;
  SubnetManager(const SubnetManager&) = delete;
  SubnetManager& operator=(const SubnetManager&) = delete;
  SubnetManager(SubnetManager&&) = delete;
  SubnetManager& operator=(SubnetManager&&) = delete;
  virtual ~SubnetManager() = default;

  // All partitions of the subnet but the administrator's, the default one among them. Returns at
  // once. Versions grow, from 1; one that is not above the last is ignored, and of several that
  // wait the newest wins.
  virtual void apply(uint64_t version, Partitions partitions) = 0;
  virtual EngineStatus status() const = 0;
  // False: it only observes, and another subnet manager writes the tables.
  virtual bool writes() const = 0;
  // ok if these partitions can be applied now. invalid with the value and the reason: the subnet
  // manager cannot take it; exists: the administrator's section has one of their P_Keys.
  virtual Status check(const std::vector<fabric::PartitionDefinition>& definitions) const = 0;
  // Those of the administrator's own section. They are in every table, too.
  virtual std::vector<fabric::PartitionDefinition> manual_partitions() const = 0;
};

}  // namespace ibpod::sm::opensm
