// ProcessMemory: how much memory a process has, watched by a thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>

#include <sys/types.h>

namespace ibpod {

// In MiB that are resident; 0: there is no such process.
size_t resident_mib(pid_t process);

class ProcessMemory {
 public:
  explicit ProcessMemory(pid_t process);

  // The most that was seen so far, in MiB.
  size_t peak() const { return peak_; }

 private:
  std::atomic<size_t> peak_ = 0;
  std::jthread thread_;
};

}  // namespace ibpod
