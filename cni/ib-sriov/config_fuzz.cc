// Whatever a configuration holds: it is read or refused with a reason, and what was read keeps its
// promises.
#include "cni/ib-sriov/config.h"
#include "lib/ib/guid.h"

#include <cstdint>
#include <cstdlib>

namespace ibpod::ib_sriov {
namespace {

void require(bool kept) {
  if (!kept) std::abort();
}

bool plain(const Path& path) {
  for (const Path& part : path) {
    if (part == "..") return false;
  }
  return path.is_absolute() && path.string().find('\0') == std::string::npos;
}

void check(const Config& config) {
  const node::Wanted& wanted = config.order.wanted;
  require(plain(config.state_folder));
  require(config.log_file.empty() || plain(config.log_file));
  require(config.order.device_info.empty() || plain(config.order.device_info));
  require(config.order.timeout >= Duration(1'000) && config.order.timeout <= Duration(110'000));
  if (wanted.guids) require(ib::check_assignable(wanted.guids->port).ok());
  if (wanted.pkey) require(ib::check_tenant(*wanted.pkey).ok());
  if (wanted.mtu) require(*wanted.mtu >= 68 && *wanted.mtu <= 65520);
}

void read(const json::Value& document, const Result<cni::Network>& network) {
  cni::Call call;
  call.ifname = "net1";
  for (const cni::Verb verb : {cni::Verb::add, cni::Verb::gc}) {
    call.verb = verb;
    if (!network) break;
    const Result<Config> config = parse_config(call, *network);
    if (config) check(*config);
    if (config && verb == cni::Verb::add) require(!config->order.device.empty());
    if (!config) require(!config.error().text().empty());
  }
  call.verb = cni::Verb::del;
  check(parse_remains(call, document));
}

// What was accepted for an ADD is as good for a DEL.
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
  ibpod::ib_sriov::read(*document, network);
  return 0;
}
