// Any configuration is either read or refused with a reason, and the values read are within their
// documented ranges.
#include "cni/ib-sriov/config.h"
#include "tests/support/fuzz_configuration.h"

#include <cstdint>

namespace ibpod::ib_sriov {
namespace {

using fuzz::require;

void check(const Config& config) {
  fuzz::check_settings(config);
  fuzz::check_spec(config.vf.spec);
  const Path& info = config.vf.device_info;
  require(info.empty() || fuzz::is_plain(info));
}

attach::ParsedConfig<Config> parse(const json::Value& document, cni::Verb verb) {
  cni::Call call;
  call.ifname = "net1";
  call.verb = verb;
  attach::ParsedConfig<Config> parsed = parse_config(call, document, fuzz::any_node());
  check(parsed.config);
  if (parsed.error) require(!parsed.error->text().empty());
  return parsed;
}

void read(const json::Value& document) {
  const auto del = parse(document, cni::Verb::del);
  for (const cni::Verb verb : {cni::Verb::add, cni::Verb::gc}) {
    const auto parsed = parse(document, verb);
    // DEL finds the same device and folder as ADD, and gives no warning if ADD accepted the
    // configuration.
    require(fuzz::same(parsed.config, del.config));
    require(parsed.config.vf.device == del.config.vf.device);
    if (parsed.error) continue;
    require(!del.error && del.warnings.empty());
    if (verb == cni::Verb::add)
      require(!parsed.config.vf.device.empty() || !parsed.config.vf.resource.empty());
  }
}

// If ADD accepts a network, DEL reads the same values.
void compare(const Result<cni::Network>& strict, const Result<cni::Network>& lenient) {
  require(!strict || (lenient.ok() && lenient->warnings.empty()));
  require(strict.ok() || !lenient || !lenient->warnings.empty());
  if (strict) require(lenient->ipam_type == strict->ipam_type);
}

}  // namespace
}  // namespace ibpod::ib_sriov

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto document = ibpod::cni::parse_document(text);
  if (!document) return 0;
  const auto network = ibpod::cni::parse_network(*document, text);
  ibpod::ib_sriov::compare(network, ibpod::cni::parse_network_for_del(*document, text));
  ibpod::ib_sriov::read(*document);
  return 0;
}
