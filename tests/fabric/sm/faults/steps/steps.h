// Steps: what a process and a test that kills it share: after how many steps it is to end. A step
// is a call that changes what outlives the process: a file of its state, a port's table, OpenSM; or
// that sends something to UFM, or has got something from it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace ibpod {

struct Steps {
  static constexpr auto kFile = "IBPOD_STEPS";           // the environment: where these are mapped
  static constexpr auto kFolder = "IBPOD_STEPS_FOLDER";  // the files that count

  std::atomic<int64_t> left{-1};  // steps to be taken yet; at 0 the process ends; below, never
  std::atomic<int64_t> taken{0};
  std::atomic<bool> torn{false};    // of a write half is done before the end
  std::array<char, 256> last = {};  // before which it has ended: "pwrite promises.db-wal"
};

}  // namespace ibpod
