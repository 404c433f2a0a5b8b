// DiscoveryThread: discovers the subnet on a thread of its own, so that polled ports do not wait
// for it.
#pragma once

#include "lib/mad/scheduler.h"
#include "sm/probe/prober_settings.h"
#include "sm/probe/task_inbox.h"

#include <memory>
#include <thread>
#include <utility>

namespace ibpod::sm::probe {

class DiscoveryThread {
 public:
  // The scheduler and the settings outlive it.
  DiscoveryThread(mad::Scheduler& scheduler, const ProberSettings& settings,
                  std::shared_ptr<TaskInbox> inbox)
      : scheduler_(scheduler), settings_(settings), inbox_(std::move(inbox)) {}

  DiscoveryThread(const DiscoveryThread&) = delete;
  DiscoveryThread& operator=(const DiscoveryThread&) = delete;
  // Cancels the discovery and waits for its end.
  ~DiscoveryThread() = default;

  // Starts a discovery; its result comes to the inbox. Only when the last one has ended
  // (ScanPlan::take_due()): otherwise that is cancelled and waited for.
  void begin();

 private:
  mad::Scheduler& scheduler_;
  const ProberSettings& settings_;
  std::shared_ptr<TaskInbox> inbox_;
  std::jthread thread_;
};

}  // namespace ibpod::sm::probe
