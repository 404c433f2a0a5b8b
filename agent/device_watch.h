// DeviceWatch: the thread that waits for the kernel, and for records that come and go.
#pragma once

#include "agent/event_queue.h"
#include "device-plugin/watch.h"

#include <thread>

namespace ibpod::agent {

class DeviceWatch {
 public:
  // Tells `events` of what may have changed, until it is destroyed.
  DeviceWatch(device_plugin::Watch watch, EventQueue& events)
      : watch_(std::move(watch)), events_(events), thread_([this] { run(); }) {}
  ~DeviceWatch() {
    watch_.cancel();
    thread_.join();
  }
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

 private:
  void run();

  device_plugin::Watch watch_;
  EventQueue& events_;
  std::thread thread_;
};

}  // namespace ibpod::agent
