#include "cni/ipoib/ipoib.h"

namespace ibpod::ipoib {

void Ipoib::read_lenient(const cni::Call& call, const json::Value& document) {
  config_ = parse_lenient(call, document, node());
}

Status Ipoib::read(const cni::Call& call, const cni::Network& network) {
  config_ = TRY(parse_config(call, network, node()));
  return ok();
}

std::string Ipoib::subject() const {
  const attach::IpoibConfig& ipoib = config_.ipoib;
  return ipoib.master.empty() ? ipoib.device.text() : ipoib.master;
}

Result<bool> Ipoib::complete(const attach::Context& context, Deadline deadline) {
  if (context.call.verb == cni::Verb::add) TRY(driver_.check_allocated(context, deadline));
  return true;
}

// Without its master no ADD of this network can succeed here.
Status Ipoib::check_node(const attach::Context& context) {
  const bool named = !config_.ipoib.master.empty() || !config_.ipoib.device.empty();
  return named ? driver_.check_usable(context) : ok();
}

Status Ipoib::collect_strays(const attach::Context& context, Deadline) const {
  return attach::remove_stray_children(context);
}

}  // namespace ibpod::ipoib
