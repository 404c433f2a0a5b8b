#include "cni/ib-sriov/plugin.h"

#include "lib/attach/add.h"
#include "lib/attach/check.h"
#include "lib/attach/del.h"
#include "lib/attach/gc.h"
#include "lib/attach/status.h"

namespace ibpod::ib_sriov {

using log::Level;

struct IbSriov::Stage {
  std::unique_ptr<node::Kernel> kernel;
  std::unique_ptr<node::Kernel> traced;
  std::unique_ptr<node::Records> records;
  std::unique_ptr<attach::Context> context;
};

// The members of every line: which call it is.
void IbSriov::name_call(const cni::Call& call, const json::Value& document) {
  log_.always("command", cni::name(call.verb));
  const std::optional<json::Value> network = document.find("name");
  if (network && network->is_string()) log_.always("network", *network);
  if (!call.container_id.empty())
    log_.always("containerID", call.container_id).always("ifname", call.ifname);
  if (!call.pod.name.empty()) log_.always("pod", call.pod.name_space + "/" + call.pod.name);
  if (!config_.order.device.empty()) log_.always("device", config_.order.device.text());
}

void IbSriov::open_log() {
  log_.set_least(config_.log_level);
  const Status opened = config_.log_file.empty() ? ok() : log_.open(config_.log_file);
  // A pod is not refused for a log.
  if (!opened) log_.write(Level::warning, "logFile: " + opened.error().text());
}

void IbSriov::warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) log_.write(Level::warning, warning);
}

void IbSriov::prepare(const cni::Call& call, const json::Value& document) {
  config_ = parse_remains(call, document);
  name_call(call, document);
  open_log();
}

Status IbSriov::configure(const cni::Call& call, const cni::Network& network) {
  call_ = &call;
  network_ = &network;
  log_.always("network", network.name);
  // For DEL the remains have to do.
  if (call.verb != cni::Verb::del) config_ = TRY(parse_config(call, network));
  warn(network.warnings);
  warn(config_.warnings);
  return ok();
}

int64_t& IbSriov::time_of(node::StepKind kind) {
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

void IbSriov::observe(const node::Step& step) {
  const int64_t us = step.duration.count();
  time_of(step.kind) += us;
  json::Value members = json::Value::object().set("step", step.what).set("us", us);
  if (step.error != nullptr) {
    log_.write(Level::warning, "failed", members.set("error", step.error->text()));
  } else {
    log_.write(step.kind == node::StepKind::order ? Level::info : Level::debug, "done", members);
  }
}

void IbSriov::finish(const std::optional<cni::Failure>& failure) {
  json::Value members = json::Value::object();
  members.set("kernel_us", kernel_us_).set("wait_us", wait_us_).set("outside_us", outside_us_);
  if (!failure) return log_.write(Level::info, "succeeded", members);
  members.set("code", failure->code);
  if (!failure->details.empty()) members.set("details", failure->details);
  log_.write(Level::error, failure->message, members);
}

Result<std::unique_ptr<IbSriov::Stage>> IbSriov::open_stage() {
  auto stage = std::make_unique<Stage>();
  const node::Observer observe = [this](const node::Step& step) { this->observe(step); };
  const std::string boot_id = TRY(world_.boot_id());
  stage->kernel = TRY(world_.open_kernel());
  stage->traced = node::trace(*stage->kernel, observe);
  stage->records = std::make_unique<node::Records>(config_.state_folder);
  stage->context = std::make_unique<attach::Context>(
      attach::Context{*stage->traced, *stage->records, boot_id, "ib-sriov", *call_, *network_,
                      [this](const std::string& text) { log_.write(Level::warning, text); },
                      [this](const std::string& text) { log_.write(Level::info, text); }, observe});
  return stage;
}

// ib-kubernetes sets a pod's GUID up at the subnet manager and says so in the pod's annotation.
Status IbSriov::check_ib_kubernetes(const attach::Context& context) const {
  if (!config_.ib_kubernetes) return ok();
  if (!config_.ib_kubernetes_configured) {
    return Error(Code::unavailable,
                 "ibKubernetesEnabled: ib-kubernetes has not configured this pod yet: "
                 "args.cni has no \"mellanox.infiniband.app\": \"configured\"");
  }
  const std::optional<node::Function> function = TRY(context.kernel.function(config_.order.device));
  if (!function || !function->pf || config_.order.wanted.guids) return ok();
  return Error(Code::unavailable,
               "ibKubernetesEnabled: ib-kubernetes has given this pod no GUID: args.cni.guid and "
               "runtimeConfig.infinibandGUID are empty");
}

Result<cni::AddResult> IbSriov::add() {
  const std::unique_ptr<Stage> stage = TRY(open_stage());
  TRY(check_ib_kubernetes(*stage->context));
  return attach::add(*stage->context, config_.order);
}

Status IbSriov::del() {
  const std::unique_ptr<Stage> stage = TRY(open_stage());
  std::optional<ib::PciAddress> device;
  if (!config_.order.device.empty()) device = config_.order.device;
  return attach::del(*stage->context, device, config_.order.timeout);
}

Status IbSriov::check() {
  const std::unique_ptr<Stage> stage = TRY(open_stage());
  return attach::check(*stage->context, config_.order);
}

Status IbSriov::gc() {
  const std::unique_ptr<Stage> stage = TRY(open_stage());
  return attach::gc(*stage->context, config_.order.timeout);
}

Status IbSriov::status() {
  const std::unique_ptr<Stage> stage = TRY(open_stage());
  return attach::status(*stage->context, config_.order.wanted.isolation, config_.order.timeout);
}

}  // namespace ibpod::ib_sriov
