// DeclaredFile: follows the file of declared partitions, which others replace.
#pragma once

#include "lib/base/files.h"
#include "lib/base/folder_watch.h"
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

  // The folder of the file must exist. If it is replaced later, the file in the new folder is
  // followed.
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
  std::string seen_;  // the content last reported, or the error
  std::thread thread_;
};

}  // namespace ibpod::sm::partitions
