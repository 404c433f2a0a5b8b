// OpenSm: partitions enforced by OpenSM, through its partitions.conf
// (lib/fabric/partitions_conf.h).
//
// A thread waits for events (a new version, lines in OpenSM's log, changes of the file by others,
// OpenSM's end, a deadline), passes them to SweepTracker, and takes the steps that it returns.
#pragma once

#include "lib/base/folder_watch.h"
#include "lib/base/wake.h"
#include "sm/opensm/disk.h"
#include "sm/opensm/log_tail.h"
#include "sm/opensm/opensm_log.h"
#include "sm/opensm/opensm_supervisor.h"
#include "sm/opensm/partitions_file.h"
#include "sm/opensm/subnet_manager.h"
#include "sm/opensm/sweep_tracker.h"

#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace ibpod::sm::opensm {

struct OpenSmEngineSettings {
  // The folder of OpenSM's files, except for those that others own; made if it is missing.
  Path folder;
  SupervisorSettings supervisor;
  SweepTracker::Limits limits;
};

class OpenSm final : public SubnetManager {
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

  void apply(uint64_t version, Partitions partitions) override;
  EngineStatus status() const override;
  bool writes() const override { return true; }
  Status check(const std::vector<fabric::PartitionDefinition>& definitions) const override;
  std::vector<fabric::PartitionDefinition> manual_partitions() const override;

 private:
  using Time = SweepTracker::Time;
  // Detects a change of a file without reading it.
  struct FileStamp {
    uint64_t inode = 0;
    int64_t size = -1;
    int64_t changed = 0;  // ns since 1970
    bool operator==(const FileStamp&) const = default;
  };

  OpenSm(OpenSmEngineSettings settings, OnChange changed, std::unique_ptr<Disk> disk, Wake wake,
         FolderWatch watch);
  void run();
  bool wait();
  void tick();
  void take_desired();
  void supervise();
  void adopt();
  void read_log();
  void inspect();
  bool act();
  Result<PartitionsFile::Found> put(SweepTracker::Step step);
  void note_found(PartitionsFile::Found found);
  void publish();
  EngineStatus evaluate_status() const;

  OpenSmEngineSettings settings_;
  OpenSmPaths paths_;
  OnChange on_change_;
  std::unique_ptr<Disk> disk_;
  Wake wake_;
  FolderWatch watch_;

  // The rest belongs to the thread.
  PartitionsFile file_;
  LogTail log_;
  LogReader reader_;
  SweepTracker sweep_tracker_;
  OpensmSupervisor supervisor_;
  Partitions newest_;
  std::optional<Error> refusal_;   // of the last place() or restore()
  std::optional<FileStamp> seen_;  // when the file was inspected last

  mutable std::mutex mutex_;
  bool ending_ = false;
  uint64_t desired_version_ = 0;
  Partitions desired_partitions_;
  EngineStatus status_;
  std::shared_ptr<const ManualSection> section_;
  size_t bytes_ = 0;  // size of the file in place

  std::thread thread_;  // last, as it uses all other members
};

}  // namespace ibpod::sm::opensm
