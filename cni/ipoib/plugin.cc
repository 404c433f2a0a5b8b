#include "cni/ipoib/plugin.h"

namespace ibpod::ipoib {

void Ipoib::read_remains(const cni::Call& call, const json::Value& document) {
  config_ = parse_remains(call, document, node());
}

Status Ipoib::read(const cni::Call& call, const cni::Network& network) {
  config_ = TRY(parse_config(call, network, node()));
  return ok();
}

std::string Ipoib::subject() const {
  const attach::ChildOrder& order = config_.order;
  return order.master.empty() ? order.device.text() : order.master;
}

Result<bool> Ipoib::complete(const attach::Context& context, Deadline deadline) {
  if (context.call.verb == cni::Verb::add) TRY(endpoint_.check_allocated(context, deadline));
  return true;
}

// Without its master no ADD of this network can succeed here.
Status Ipoib::check_node(const attach::Context& context) {
  const bool named = !config_.order.master.empty() || !config_.order.device.empty();
  return named ? endpoint_.check_usable(context) : ok();
}

Status Ipoib::sweep(const attach::Context& context, Deadline) const {
  return attach::remove_stray_children(context);
}

}  // namespace ibpod::ipoib
