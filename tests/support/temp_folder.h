// A folder that goes when the test ends.
#pragma once

#include "lib/base/files.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include <fcntl.h>

namespace ibpod {

class TempFolder {
 public:
  explicit TempFolder(const Path& parent = std::filesystem::temp_directory_path()) {
    std::string name = (parent / "ibpod-test.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const Path& path() const { return path_; }

  // For its owner alone, as keys have to be. Folders on the way are made.
  Path write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << content;
    std::filesystem::permissions(
        path_ / name, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return path_ / name;
  }
  // A shell script that can be run.
  Path script(const std::string& name, const std::string& content) const {
    Path program = write(name, "#!/bin/sh\n" + content + "\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return program;
  }
  // A folder that is not empty takes the place of `path`, in one step: no file replaces it.
  void block(const Path& path) const {
    std::filesystem::create_directories(path_ / "block" / "full");
    const Path block = path_ / "block";
    if (::renameat2(AT_FDCWD, block.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) != 0)
      std::abort();
  }

 private:
  Path path_;
};

}  // namespace ibpod
