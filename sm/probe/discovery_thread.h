// DiscoveryThread: discovers the subnet on a thread of its own, so that polled ports do not wait
// for it.
#pragma once

#include "lib/mad/scheduler.h"
#include "sm/probe/prober_settings.h"
#include "sm/probe/task_inbox.h"

#include <memory>
#include <thread>

namespace ibpod::sm::probe {

class DiscoveryThread {
 public:
  // The scheduler and the settings outlive it.
  DiscoveryThread(mad::Scheduler& scheduler, const ProberSettings& settings,
                  std::shared_ptr<TaskInbox> inbox)
      : scheduler_(scheduler), settings_(settings), inbox_(std::move(inbox)) {}

  // Starts a discovery; its result comes to the inbox. The last one has ended.
  void begin();

 private:
  mad::Scheduler& scheduler_;
  const ProberSettings& settings_;
  std::shared_ptr<TaskInbox> inbox_;
  std::jthread thread_;
};

}  // namespace ibpod::sm::probe
