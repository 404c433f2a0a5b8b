// OpenSm: partitions enforced by OpenSM, through its partitions.conf
// (lib/fabric/partitions_conf.h).
//
// A thread of its own waits for what happens (a version that is wanted, lines in OpenSM's log, the
// file changed by others, OpenSM's end, a limit of time), tells Turn of it, and does what that
// says.
#pragma once

#include "lib/base/wake.h"
#include "sm/engine/disk.h"
#include "sm/engine/subnet_manager.h"
#include "sm/engine/file_watch.h"
#include "sm/engine/opensm_supervisor.h"
#include "sm/engine/log_tail.h"
#include "sm/engine/opensm_log.h"
#include "sm/engine/partitions_file.h"
#include "sm/engine/sweep_tracker.h"

#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace ibpod::sm {

struct OpenSmEngineSettings {
  // All files of OpenSM's, but those that others own; made where it is missing.
  Path folder;
  KeeperSettings keeper;
  Turn::Limits limits;
};

class OpenSm final : public Engine {
 public:
  // Takes up what the last process left: the file, and OpenSM, which has gone on. An OpenSM of ours
  // is started once a version is in place. `disk`: nothing is the real one.
  static Result<std::unique_ptr<OpenSm>> start(OpenSmEngineSettings settings, Changed changed,
                                               std::unique_ptr<Disk> disk = nullptr);
  // Ends the thread. OpenSM goes on, with the file that it has.
  ~OpenSm() override;
  OpenSm(const OpenSm&) = delete;
  OpenSm& operator=(const OpenSm&) = delete;
  OpenSm(OpenSm&&) = delete;
  OpenSm& operator=(OpenSm&&) = delete;

  void want(uint64_t version, Partitions partitions) override;
  Standing standing() const override;
  bool writes() const override { return true; }
  Status check(const std::vector<fabric::Partition>& partitions) const override;
  std::vector<fabric::Partition> administrators() const override;

 private:
  using Time = Turn::Time;
  // What tells of a file's change without reading it.
  struct Seen {
    uint64_t inode = 0;
    int64_t size = -1;
    int64_t changed = 0;  // ns since 1970
    bool operator==(const Seen&) const = default;
  };

  OpenSm(OpenSmEngineSettings settings, Changed changed, std::unique_ptr<Disk> disk, Wake wake,
         FileWatch watch);
  void run();
  bool wait();
  void turn();
  void take_wanted();
  void keep();
  void adopt();
  void hear_log();
  void inspect();
  bool act();
  Result<PartitionsFile::Found> put(Turn::Step step);
  void tell(PartitionsFile::Found found);
  void publish();
  Standing judge() const;

  OpenSmEngineSettings settings_;
  OpenSmPaths paths_;
  Changed changed_;
  std::unique_ptr<Disk> disk_;
  Wake wake_;
  FileWatch watch_;

  // The thread's own.
  PartitionsFile file_;
  LogTail log_;
  LogReader reader_;
  Turn turn_;
  Keeper keeper_;
  Partitions newest_;
  std::optional<Error> refusal_;  // of the last placing or restoring
  std::optional<Seen> seen_;      // of the file as it was inspected

  mutable std::mutex mutex_;
  bool ending_ = false;
  uint64_t wanted_ = 0;
  Partitions wanted_partitions_;
  Standing standing_;
  std::shared_ptr<const Section> section_;
  size_t bytes_ = 0;  // of the file in place

  std::thread thread_;  // the last one to begin
};

}  // namespace ibpod::sm
