#include "tests/fabric/security/process_memory.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <stop_token>
#include <string>

#include <unistd.h>

namespace ibpod {

size_t resident_mib(pid_t process) {
  std::ifstream statm("/proc/" + std::to_string(process) + "/statm");
  size_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) >> 20;
}

ProcessMemory::ProcessMemory(pid_t process)
    : thread_([this, process](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          peak_ = std::max(peak_.load(), resident_mib(process));
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
      }) {}

}  // namespace ibpod
