// DeclaredFile: follows the file of declared partitions while others replace it.
#pragma once

#include "lib/base/files.h"
#include "lib/base/wake.h"
#include "sm/partitions/declared_partitions.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace ibpod::sm::partitions {

class DeclaredFile {
 public:
  // Called on its own thread with the content of the file, at the start and after each change; with
  // an error if the file cannot be used: then the earlier content stays in force.
  using Callback = std::function<void(const Result<DeclaredPartitions>&)>;

  // Its folder has to be there. Where that is replaced later, the new one's file is followed.
  static Result<std::unique_ptr<DeclaredFile>> follow(Path file, Callback on_change);
  ~DeclaredFile();
  DeclaredFile(const DeclaredFile&) = delete;
  DeclaredFile& operator=(const DeclaredFile&) = delete;
  DeclaredFile(DeclaredFile&&) = delete;
  DeclaredFile& operator=(DeclaredFile&&) = delete;

 private:
  DeclaredFile(Path file, Callback on_change, FolderWatch watch, Wake ending);
  void run();
  void read();
  void watch_again();

  const Path file_;
  const Callback callback_;
  std::optional<FolderWatch> watch_;  // nothing: its folder is gone
  Wake ending_;
  std::string seen_;  // the content that was told last, or why there was none
  std::thread thread_;
};

}  // namespace ibpod::sm::partitions
