// For any output of an IPAM plugin, as its result, its versions or its error: it is accepted or
// refused with a reason, and the text that goes on to the runtime has a bounded size.
#include "lib/cni/delegate_error.h"
#include "lib/cni/ipam.h"
#include "tests/support/fuzz.h"

namespace ibpod::cni {
namespace {

using fuzz::require;

void check_result(const std::string& output) {
  for (const Version version : supported_versions()) {
    const auto result = parse_answer(output, version);
    if (!result) return fuzz::check_refusal(result.error(), output.size());
    for (const IpConfig& ip : result->ips)
      require(!ip.interface || *ip.interface < result->interfaces.size());
    const auto again = parse_result(to_json(*result, kNewest)).value();
    require(again.ips == result->ips && again.routes == result->routes);
    require(again.interfaces == result->interfaces);
  }
}

void check_versions(const std::string& output) {
  const auto versions = parse_versions(output);
  if (!versions) return fuzz::check_refusal(versions.error(), output.size());
  for (const Version version : *versions)
    require(Version::parse(version.text()).value() == version);
}

void check_delegate_error(const std::string& output) {
  constexpr size_t kMost = 2000;
  require(tail(output).size() <= kMost);
  const auto delegate_error = parse_delegate_error(output);
  if (delegate_error) require(!delegate_error->text.empty() || delegate_error->code != 0);
  const std::string text =
      describe({.exit_code = 1, .output = output, .errors = ""}, delegate_error);
  require(!text.empty() && text.size() <= kMost);
}

}  // namespace
}  // namespace ibpod::cni

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  const std::string output(fuzz::text_of(data, size));
  cni::check_result(output);
  cni::check_versions(output);
  cni::check_delegate_error(output);
  return 0;
}
