// TracedKernel: another Kernel, with every call told to an observer: what, how long, how it ended.
#pragma once

#include "lib/node/kernel.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace ibpod::node {

// The use of a step's time: the kernel answers a question or carries out an order, the step waits
// for a change, or another program or the disk works.
enum class StepKind { question, order, wait, outside };

struct Step {
  std::string what;  // "move RDMA device mlx5_3"
  std::chrono::microseconds duration{};
  const Error* error = nullptr;  // nothing: done
  StepKind kind = StepKind::question;
};
using Observer = std::function<void(const Step&)>;

// `kernel` must outlive it. The observer is called after each call, on the same thread.
std::unique_ptr<Kernel> trace(Kernel& kernel, Observer observer);

}  // namespace ibpod::node
