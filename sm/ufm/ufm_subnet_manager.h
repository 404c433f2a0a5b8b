// UfmSubnetManager: partitions enforced by UFM, through its REST interface.
//
// UFM stores what it is asked for, and some time later its OpenSM writes the tables. `placed` means
// that UFM shows all of a version; `swept`, that it has done so for EngineSettings::effect. The
// default partition is not ibpod-sm's: UFM has a definition of it, and ours is not written.
//
// A thread makes the calls, one at a time, as Reconciler decides.
#pragma once

#include "sm/engine/subnet_manager.h"
#include "sm/ufm/guid_mapping.h"
#include "sm/ufm/preflight.h"
#include "sm/ufm/reconciler.h"
#include "sm/ufm/settings.h"
#include "sm/ufm/ufm_api.h"
#include "sm/ufm/ufm_counts.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace ibpod::sm::ufm {

class UfmSubnetManager final : public engine::SubnetManager {
 public:
  // Reads the records of the last process; its errors are those of WrittenMembers::open() and
  // WrittenGroups::open().
  static Result<std::unique_ptr<UfmSubnetManager>> start(EngineSettings settings,
                                                         std::unique_ptr<UfmApi> api,
                                                         OnChange changed);
  // Ends the thread, after its present call: at once if UfmApi::cancel() ends it, else within
  // ClientSettings::timeout. UFM keeps its partitions.
  ~UfmSubnetManager() override;
  UfmSubnetManager(const UfmSubnetManager&) = delete;
  UfmSubnetManager& operator=(const UfmSubnetManager&) = delete;
  UfmSubnetManager(UfmSubnetManager&&) = delete;
  UfmSubnetManager& operator=(UfmSubnetManager&&) = delete;

  void apply(uint64_t version, engine::Partitions partitions) override;
  void set_vf_ports(std::vector<engine::VfPort> ports) override;
  engine::EngineStatus status() const override;
  engine::Capabilities capabilities() const override {
    return {.writes = true,
            .follows_sweeps = false,
            .serves_vports = true,
            .confines_vfs = settings_.map_vfs};
  }
  std::vector<engine::PortFault> port_faults() const override;
  std::vector<engine::PartitionFault> partition_faults() const override;
  // Also `exists` for a P_Key that another user of UFM has. It names the ports by which that is
  // known; a partition that is in place already is not checked again, its members have faults.
  Status check(const std::vector<fabric::PartitionDefinition>& definitions) const override;
  // UFM makes all switches full members of the default partition, whatever its default membership.
  std::vector<fabric::PartitionDefinition> as_written(
      std::vector<fabric::PartitionDefinition> definitions) const override;
  // UFM's partitions outside of EngineSettings::pkeys.
  std::vector<fabric::PartitionDefinition> manual_partitions() const override;

  UfmCounts counts() const;

 private:
  struct Written {
    WrittenMembers members;
    WrittenGroups groups;
  };
  UfmSubnetManager(EngineSettings settings, std::unique_ptr<UfmApi> api, OnChange changed,
                   Written written);
  // The numbers grow with each change.
  struct Wanted {
    uint64_t version = 0;
    engine::Partitions partitions;
    uint64_t vf_change = 0;
    std::vector<engine::VfPort> vf_ports;
  };
  struct Published {
    engine::EngineStatus status;
    std::vector<engine::PortFault> faults;
    std::vector<engine::PartitionFault> partition_faults;
    // The same object as long as it has not changed.
    std::shared_ptr<const std::vector<fabric::PartitionDefinition>> others =
        std::make_shared<std::vector<fabric::PartitionDefinition>>();
    std::map<ib::PKey, std::vector<ib::Guid>> taken;
    UfmCounts counts;
  };
  void run(const std::stop_token& stop);
  void adopt_newest();
  Published present() const;
  void publish();
  bool is_serving() const;
  bool run_mapping();
  bool run_preflight();
  void wait(const std::stop_token& stop, Reconciler::Time begun);

  EngineSettings settings_;
  OnChange on_change_;
  std::unique_ptr<UfmApi> api_;

  mutable std::mutex mutex_;  // for the members from here
  std::condition_variable_any wake_;
  Wanted wanted_;
  Published published_;

  // The rest belongs to the thread.
  Reconciler reconciler_;
  GuidMapping mapping_;
  Preflight preflight_;
  struct Adopted {
    uint64_t version = 0, vf_change = 0;
  } adopted_;  // what it was given

  std::jthread thread_;  // last, as it uses all other members
};

}  // namespace ibpod::sm::ufm
