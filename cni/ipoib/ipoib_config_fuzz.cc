// Any configuration is either read or refused with a reason, and the values read are within their
// documented ranges.
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
    // DEL finds the records in ADD's folder, and gives no warning if ADD accepted the
    // configuration.
    require(fuzz::same(parsed.config, del.config));
    if (parsed.error) continue;
    require(!del.error && del.warnings.empty());
    const attach::IpoibConfig& ipoib = parsed.config.ipoib;
    if (verb == cni::Verb::add) require(!ipoib.master.empty() || !ipoib.device.empty());
  }
}

}  // namespace
}  // namespace ibpod::ipoib

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto document = cni::parse_document(text);
  if (!document) return 0;
  ipoib::read(*document);
  return 0;
}
