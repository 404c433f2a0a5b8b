#include "lib/attach/call_log.h"

#include <algorithm>

namespace ibpod::attach {

using log::Level;

namespace {

// The most warnings of one call, and bytes of each: libcni keeps a plugin's output in a log without
// rotation.
constexpr size_t kMostWarnings = 16;
constexpr size_t kLongestWarning = 1000;

std::string clipped(std::string text) {
  if (text.size() <= kLongestWarning) return text;
  text.resize(kLongestWarning);
  return text += "...";
}

}  // namespace

void CallLogWriter::name_call(const cni::Call& call, const json::Value& document) {
  log_.always("command", cni::name(call.verb));
  const std::optional<json::Value> network = document.find("name");
  // If the name is invalid, only the error has it.
  if (network && network->is_string() && network->string()->size() <= cni::kLongestName)
    log_.always("network", *network);
  if (!call.container_id.empty())
    log_.always("containerID", call.container_id).always("ifname", call.ifname);
  if (!call.pod.name.empty()) log_.always("pod", call.pod.name_space + "/" + call.pod.name);
}

void CallLogWriter::open(const Settings& settings) {
  log_.set_least(settings.log_level);
  const Status opened = settings.log_file.empty() ? ok() : log_.open(settings.log_file);
  // A log that cannot be opened does not fail the call.
  if (!opened) warn("logFile: " + opened.error().text());
}

// The number is limited: a network's author could otherwise fill the node's disk with warnings.
void CallLogWriter::warn_of_network(const std::vector<std::string>& warnings) {
  const size_t written = std::min(warnings.size(), kMostWarnings);
  for (size_t n = 0; n < written; ++n) warn(clipped(warnings[n]));
  if (warnings.size() > written)
    warn("and " + std::to_string(warnings.size() - written) + " more warnings of this network");
}

int64_t& CallLogWriter::time_of(node::StepKind kind) {
  switch (kind) {
    case node::StepKind::question:
    case node::StepKind::order:
      return kernel_us_;
    case node::StepKind::wait:
      return wait_us_;
    case node::StepKind::outside:
      return outside_us_;
  }
  std::abort();
}

void CallLogWriter::step(const node::Step& step) {
  const int64_t us = step.duration.count();
  const bool failed = step.error != nullptr;
  time_of(step.kind) += us;
  json::Value members = json::Value::object().set("result", failed ? "failed" : "done");
  members.set("us", us);
  if (failed) members.set("error", step.error->text());
  const Level usual = step.kind == node::StepKind::order ? Level::info : Level::debug;
  log_.write(failed ? Level::warning : usual, step.what, members);
}

void CallLogWriter::finish(const std::optional<cni::Failure>& failure) {
  const auto whole = std::chrono::steady_clock::now() - begun_;
  json::Value members = json::Value::object();
  members.set("whole_us", std::chrono::duration_cast<std::chrono::microseconds>(whole).count());
  members.set("kernel_us", kernel_us_).set("wait_us", wait_us_).set("outside_us", outside_us_);
  if (!failure) return log_.write(Level::info, "succeeded", members);
  members.set("code", failure->code);
  if (!failure->details.empty()) members.set("details", failure->details);
  log_.write(Level::error, failure->message, members);
}

}  // namespace ibpod::attach
