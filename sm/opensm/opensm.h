// OpenSm: partitions enforced by OpenSM, through its partitions.conf
// (lib/fabric/partitions_conf.h).
//
// A thread waits for events (a new version, lines in OpenSM's log, changes of the file by others,
// OpenSM's end, a deadline), passes them to SweepTracker, and takes the steps that it returns.
#pragma once

#include "sm/engine/subnet_manager.h"
#include "sm/opensm/desired_partitions.h"
#include "sm/opensm/disk.h"
#include "sm/opensm/file_change_detector.h"
#include "sm/opensm/log_follower.h"
#include "sm/opensm/opensm_events.h"
#include "sm/opensm/opensm_launcher.h"
#include "sm/opensm/opensm_supervisor.h"
#include "sm/opensm/partitions_file.h"
#include "sm/opensm/published_status.h"
#include "sm/opensm/sweep_tracker.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

namespace ibpod::sm::opensm {

struct OpenSmEngineSettings {
  // The folder of OpenSM's files, except for those that others own; made if it is missing.
  Path folder;
  LauncherSettings launcher;
  SupervisorSettings supervisor;
  SweepTracker::Limits limits;
};

class OpenSm final : public engine::SubnetManager {
 public:
  // Takes over the file and the running OpenSM of the last process. An OpenSM of ours is started
  // once a version is in place. `disk`: nullptr means the real one.
  static Result<std::unique_ptr<OpenSm>> start(OpenSmEngineSettings settings, OnChange changed,
                                               std::unique_ptr<Disk> disk = nullptr);
  // Ends the thread. OpenSM keeps running with its file.
  ~OpenSm() override;
  OpenSm(const OpenSm&) = delete;
  OpenSm& operator=(const OpenSm&) = delete;
  OpenSm(OpenSm&&) = delete;
  OpenSm& operator=(OpenSm&&) = delete;

  void apply(uint64_t version, engine::Partitions partitions) override;
  engine::EngineStatus status() const override;
  engine::Capabilities capabilities() const override {
    return {.writes = true, .repairs_tables = true, .manual_section = true};
  }
  Status check(const std::vector<fabric::PartitionDefinition>& definitions) const override;
  std::vector<fabric::PartitionDefinition> manual_partitions() const override;
  std::vector<fabric::PartitionDefinition> as_written(
      std::vector<fabric::PartitionDefinition> definitions) const override;

 private:
  OpenSm(OpenSmEngineSettings settings, const OpenSmPaths& paths, OnChange changed,
         std::unique_ptr<Disk> disk, OpensmEvents events);
  void run(const std::stop_token& stop);
  void tick();
  void supervise();
  void adopt();
  void read_log();
  void inspect();
  bool act();
  void note_found(PartitionsFile::Found found);
  Result<PartitionsFile::Found> put(const DesiredPartitions::Version& desired);
  void publish();
  engine::EngineStatus evaluate_status() const;

  OpenSmEngineSettings settings_;
  OpensmEvents events_;
  DesiredPartitions desired_;
  PublishedStatus published_;

  // The rest belongs to the thread.
  std::unique_ptr<Disk> disk_;
  PartitionsFile file_;
  FileChangeDetector file_changes_;
  LogFollower log_;
  SweepTracker sweep_tracker_;
  OpensmSupervisor supervisor_;
  std::optional<Error> refusal_;  // of the last place() or restore()

  std::jthread thread_;  // last, as it uses all other members
};

}  // namespace ibpod::sm::opensm
