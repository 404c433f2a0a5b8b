// A program that runs beside the test and ends with it.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace ibpod {

struct Launch {
  std::vector<std::string> words;  // the program, looked up in PATH, and its arguments
  Path folder;                     // that it runs in
  // Beside our own environment; what is named here goes before it.
  std::map<std::string, std::string> environment;
  enum class Output { kept, shown } output = Output::kept;
};

class Background {
 public:
  static Result<Background> start(const Launch& launch);
  Background(Background&& other) noexcept;
  Background& operator=(Background&&) = delete;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  // Ends it: SIGTERM, and SIGKILL where it hangs (simulation.h); at once where what it says is not
  // kept.
  ~Background();

  // Waits until its output has this text. unavailable: it has not by the deadline, or it ended; the
  // details are what it said.
  Status says(const std::string& text, Deadline deadline);
  // Waits until it has ended by itself: its exit code, 128 + signal if a signal ended it.
  int finish();
  pid_t pid() const { return pid_; }
  // All that it has said until it ended, or closed its output.
  std::string output();

 private:
  class Ear;
  Background(pid_t pid, std::unique_ptr<Ear> ear);
  pid_t pid_;
  std::unique_ptr<Ear> ear_;
};

}  // namespace ibpod
