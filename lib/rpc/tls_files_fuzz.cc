// For any files of a TLS connection: they are accepted or refused with a reason. Two parts, with
// byte 0x1e between them: certificates, and a key.
#include "lib/rpc/tls_check.h"
#include "tests/support/fuzz.h"

namespace ibpod::rpc {
namespace {

// None of a file's text is quoted: it may be a key.
void check(const Status& status) {
  if (!status) fuzz::check_refusal(status.error(), 0);
}

}  // namespace
}  // namespace ibpod::rpc

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  std::string_view rest = fuzz::text_of(data, size);
  const std::string certificates(fuzz::next_part(rest));
  rpc::check(rpc::check_authorities(certificates));
  const auto validity = rpc::check_pair(certificates, std::string(rest));
  if (!validity) rpc::check(validity.error());
  if (validity) rpc::check(rpc::check_today(*validity));
  return 0;
}
