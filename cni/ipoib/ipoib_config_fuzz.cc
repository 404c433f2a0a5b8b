// Whatever a configuration holds: it is read or refused with a reason, and what was read keeps its
// promises.
#include "cni/ipoib/config.h"
#include "tests/support/fuzz_configuration.h"

#include <cstdint>

namespace ibpod::ipoib {
namespace {

using fuzz::require;

void check(const Config& config) {
  fuzz::check_settings(config);
  fuzz::check_spec(config.ipoib.spec);
}

void read(const cni::Network& network, cni::Verb verb) {
  cni::Call call;
  call.ifname = "net1";
  call.verb = verb;
  const Result<Config> config = parse_config(call, network, fuzz::any_node());
  if (!config) return require(!config.error().text().empty());
  check(*config);
  const attach::IpoibConfig& ipoib = config->ipoib;
  if (verb == cni::Verb::add) require(!ipoib.master.empty() || !ipoib.device.empty());
}

}  // namespace
}  // namespace ibpod::ipoib

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto document = cni::parse_document(text);
  if (!document) return 0;
  cni::Call call;
  call.verb = cni::Verb::del;
  ipoib::check(ipoib::parse_lenient(call, *document, fuzz::any_node()));
  const auto network = cni::parse_network(*document, text);
  if (!network) return 0;
  for (const cni::Verb verb : {cni::Verb::add, cni::Verb::gc}) ipoib::read(*network, verb);
  return 0;
}
