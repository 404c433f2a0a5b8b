// CallLog: the messages of one call to an operator. CallLogWriter writes them to the plugin's log.
#pragma once

#include "lib/attach/keys.h"
#include "lib/cni/errors.h"
#include "lib/cni/request.h"
#include "lib/log/log.h"
#include "lib/node/traced_kernel.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::attach {

class CallLog {
 public:
  virtual ~CallLog() = default;
  // Something that an operator should know although nothing failed.
  virtual void warn(const std::string& text) = 0;
  // A result.
  virtual void inform(const std::string& text) = 0;
  // A step and its duration.
  virtual void step(const node::Step& step) = 0;
  // The device of the call, once it is known.
  virtual void name_device(const std::string& device) = 0;
};

class CallLogWriter : public CallLog {
 public:
  explicit CallLogWriter(log::Log& log) : log_(log) {}

  // All later lines name this call. `document`: the network, as far as it was read.
  void name_call(const cni::Call& call, const json::Value& document);
  void name_network(const std::string& name) { log_.always("network", name); }
  // Opens the settings' log file; only warns if it cannot be opened.
  void open(const Settings& settings);
  // Warnings about one network; their number is limited.
  void warn_of_network(const std::vector<std::string>& warnings);
  // Logs how the call ended, and the time it spent in each part.
  void finish(const std::optional<cni::Failure>& failure);

  void warn(const std::string& text) override { log_.write(log::Level::warning, text); }
  void inform(const std::string& text) override { log_.write(log::Level::info, text); }
  void step(const node::Step& step) override;
  void name_device(const std::string& device) override { log_.always("device", device); }

 private:
  int64_t& time_of(node::StepKind kind);

  log::Log& log_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  // This call's time in the kernel, in waits, and in other processes, in microseconds.
  int64_t kernel_us_ = 0, wait_us_ = 0, outside_us_ = 0;
};

}  // namespace ibpod::attach
