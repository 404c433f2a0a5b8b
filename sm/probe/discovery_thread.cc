#include "sm/probe/discovery_thread.h"

#include "sm/probe/discovery.h"

#include <utility>

namespace ibpod::sm::probe {

void DiscoveryThread::begin() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    const auto begun = Deadline::Clock::now();
    auto topology = std::make_shared<const fabric::Topology>(
        discover(scheduler_, {.retry = {mad::Urgency::scan, Deadline::in(settings_.discovery_limit),
                                        settings_.timeout, settings_.attempts},
                              .m_key = settings_.m_key,
                              .stop = stop}));
    inbox_->add([&](Tasks& tasks) { tasks.discovered = {begun, std::move(topology)}; });
  });
}

}  // namespace ibpod::sm::probe
