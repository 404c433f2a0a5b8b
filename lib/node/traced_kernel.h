// TracedKernel: another Kernel, with every call told to an observer: what, how long, how it ended.
#pragma once

#include "lib/node/kernel.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace ibpod::node {

struct Step {
  std::string what;  // "move RDMA device mlx5_3"
  std::chrono::microseconds duration{};
  const Error* error = nullptr;  // nothing: done
  bool order = false;            // it was to change something
};
using Observer = std::function<void(const Step&)>;

// `kernel` must outlive it. The observer is called behind each call, on the same thread.
std::unique_ptr<Kernel> trace(Kernel& kernel, Observer observer);

}  // namespace ibpod::node
