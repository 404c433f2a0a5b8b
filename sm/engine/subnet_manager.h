// SubnetManager: makes a subnet enforce partitions. OpenSm gives them to an OpenSM,
// UfmSubnetManager to a UFM; PassiveSubnetManager writes nothing, because another subnet manager
// owns the tables.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/fabric/partition_definition.h"
#include "lib/ib/guid.h"
#include "lib/ib/pkey.h"
#include "sm/engine/engine_finding.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::engine {

// A closed set: also a label of metrics.
enum class Health {
  starting,     // no fault, but nothing is known yet either
  serving,      // the subnet manager is master and has the file
  gone,         // there is no subnet manager
  not_master,   // another subnet manager is master
  other_file,   // the subnet manager has another configuration than ours
  failed_open,  // it has discarded the partitions: every port is a full default member
  refused,      // the partitions cannot be put in place
  stuck,        // a sweep does not begin or does not end
};
std::string_view name(Health health);

struct EngineStatus {
  Health health = Health::starting;
  bool port_down = false;  // it is not_master because its own port's link is down
  // The fault and its remedy, for operators. While serving it is empty, undone_edit, or the texts
  // of `findings`.
  std::string trouble;
  // The undone edit of our file by another user, and the reason; empty if there was none, or if it
  // has been corrected or withdrawn since.
  std::string undone_edit;
  // Why a memory limit of ibpod-sm may end the subnet manager, too; empty: it cannot.
  std::string shared_cgroup;
  // Why the running subnet manager could not be started again; empty: it could.
  std::string start_refused;
  // Further faults that the engine has found at its subnet manager. All are for operators: none
  // changes what the engine does.
  std::vector<EngineFinding> findings;
  // Every sweep that begins from now on reads this version or a later one, but for the ports in
  // port_faults(); and no running sweep reads an older one, if Capabilities::follows_sweeps. 0
  // while a file that is not ours is in place, or the subnet manager has lost what we gave it.
  uint64_t placed = 0;
  // The sweep that read this version is over, even if some port did not answer, so tables are not
  // written with an older version any more. Never above `placed`. 0 again after a file that is not
  // ours, a change of the administrator's section, or another master.
  uint64_t swept = 0;
  // Counts since the engine's start.
  uint64_t sweeps = 0;         // heavy sweeps that have ended
  uint64_t failed_sweeps = 0;  // of these, sweeps in which some port did not answer
  uint64_t hups = 0;           // sweeps that we have requested
  uint64_t fail_opens = 0;     // times that the subnet manager discarded the file
  uint64_t violations = 0;     // times that a file that is not ours was found in place
  uint64_t restores = 0;       // times that our file was put back
  uint64_t edits = 0;          // times that the administrator's section was accepted again
  // Times that another subnet manager became master, or that ours lost what we gave it.
  uint64_t losses = 0;
  uint64_t full_tables = 0;       // times that a key found no room in a port's table
  uint64_t enforcement_lost = 0;  // times that a switch port's enforcement was disabled
  uint64_t starts = 0;            // times that the subnet manager was started or found again
  Duration last_sweep{};          // from its beginning to its end
  bool operator==(const EngineStatus&) const = default;
};

using Partitions = std::shared_ptr<const std::vector<fabric::PartitionDefinition>>;

// A port for which a part of the partitions is not in place, while the rest of them is.
struct PortFault {
  enum class Kind {
    not_added,    // a desired membership is not in place
    not_removed,  // one that is not desired may still be: the port is not free of its key
  };
  ib::Guid port;
  Kind kind = Kind::not_added;
  std::string text;  // the cause and the remedy, for operators
  bool operator==(const PortFault&) const = default;
};

// A partition that is not in place at all, while others are. Its desired members have PortFaults
// with the same text.
struct PartitionFault {
  ib::PKey pkey;     // bit 15 clear
  std::string text;  // the cause and the remedy, for operators
  bool operator==(const PartitionFault&) const = default;
};

// The port of a VF that a binding names, and the port of its PF.
struct VfPort {
  ib::Guid pf;  // none: not known, or not the PF of the VF's node
  ib::Guid vf;
  auto operator<=>(const VfPort&) const = default;
};

// How the rest of ibpod-sm works with an engine.
struct Capabilities {
  // The tables are written from our partitions. False: it only observes, and another subnet manager
  // has partitions of its own.
  bool writes = false;
  // ibpod-sm itself may correct a table that stays wrong. False: only the subnet manager writes.
  bool repairs_tables = false;
  // The administrator's partitions are in one file with ours, which limits the size of both.
  bool manual_section = false;
  // `placed` and `swept` follow the sweeps of the subnet manager. False: until a version is
  // `swept`, which is an estimate, a running sweep may have read an older one, so no key counts as
  // removed.
  bool follows_sweeps = true;
  // A VF that is a virtual port behind its PF's port gets its keys, too. No scan finds it, so only
  // its node can show its table.
  bool serves_vports = false;
  // The subnet manager accepts the GUID of a VF only behind the port of its PF: set_vf_ports() has
  // an effect.
  bool confines_vfs = false;
  bool operator==(const Capabilities&) const = default;
};

// All calls are thread-safe.
class SubnetManager {
 public:
  // Called on the engine's own thread after status() has changed. It must be short, and must not
  // call the engine except status().
  using OnChange = std::function<void()>;

  SubnetManager() = default;
  SubnetManager(const SubnetManager&) = delete;
  SubnetManager& operator=(const SubnetManager&) = delete;
  SubnetManager(SubnetManager&&) = delete;
  SubnetManager& operator=(SubnetManager&&) = delete;
  virtual ~SubnetManager() = default;

  // Sets all partitions of the subnet, including the default one, without the administrator's.
  // Returns at once. Versions are 1 or more and increase; one that is not above the last is
  // ignored, and the newest of several wins.
  virtual void apply(uint64_t version, Partitions partitions) = 0;
  // Sets the VFs of all bindings, also of those that end; sorted, each VF once. Returns at once.
  // Until the first call the subnet manager keeps the VFs that it was given before.
  virtual void set_vf_ports(std::vector<VfPort>) {}
  virtual EngineStatus status() const = 0;
  // Never changes.
  virtual Capabilities capabilities() const = 0;
  // By port; at most one of each kind a port. A change is followed by OnChange. Read status()
  // first: a port without a fault then has all of the `placed` version.
  virtual std::vector<PortFault> port_faults() const { return {}; }
  // By P_Key, each once; of partitions that were applied. What is said of port_faults() holds here,
  // too: a partition without a fault is in place.
  virtual std::vector<PartitionFault> partition_faults() const { return {}; }
  // ok if these partitions can be applied now. invalid, with value and reason, if the subnet
  // manager cannot accept them; exists if the administrator's section has one of their P_Keys.
  virtual Status check(const std::vector<fabric::PartitionDefinition>& definitions) const = 0;
  // The partitions of the administrator's own section, which are in the tables, too.
  virtual std::vector<fabric::PartitionDefinition> manual_partitions() const = 0;
  // The definitions as the tables will show them: the subnet manager may do more than they say.
  virtual std::vector<fabric::PartitionDefinition> as_written(
      std::vector<fabric::PartitionDefinition> definitions) const {
    return definitions;
  }
};

}  // namespace ibpod::sm::engine
