// CallLog: what one call has to say to an operator. CallLogWriter writes it to the plugin's log.
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
  // What an operator should know although nothing has failed.
  virtual void warn(const std::string& text) = 0;
  // What has been achieved.
  virtual void inform(const std::string& text) = 0;
  // Each step, and how long it took.
  virtual void step(const node::Step& step) = 0;
  // What the call is about, once it is known.
  virtual void name_device(const std::string& device) = 0;
};

class CallLogWriter : public CallLog {
 public:
  explicit CallLogWriter(log::Log& log) : log_(log) {}

  // From then on each line says which call it is of. `document`: all that is known of the network.
  void name_call(const cni::Call& call, const json::Value& document);
  void name_network(const std::string& name) { log_.always("network", name); }
  // Where the settings have it; a file that cannot be opened is a warning.
  void open(const Settings& settings);
  // Warnings of one network. No more are written than a node's disk can bear.
  void warn_of_network(const std::vector<std::string>& warnings);
  // How the call ended, and where its time went.
  void finish(const std::optional<cni::Failure>& failure);

  void warn(const std::string& text) override { log_.write(log::Level::warning, text); }
  void inform(const std::string& text) override { log_.write(log::Level::info, text); }
  void step(const node::Step& step) override;
  void name_device(const std::string& device) override { log_.always("device", device); }

 private:
  int64_t& time_of(node::StepKind kind);

  log::Log& log_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  // Where this call's time went so far, in microseconds.
  int64_t kernel_us_ = 0, wait_us_ = 0, outside_us_ = 0;
};

}  // namespace ibpod::attach
