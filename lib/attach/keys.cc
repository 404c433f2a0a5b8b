#include "lib/attach/keys.h"

#include "lib/attach/addresses.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

using json::Fields;
using json::Value;

void note_spellings(const Fields& fields, const std::string& place, Settings& settings) {
  for (const std::string& warning : fields.warnings()) settings.warnings.push_back(place + warning);
}

// Empty where the key is.
Result<ib::PciAddress> read_address(Fields& fields, std::string_view place) {
  const std::optional<std::string> value = TRY(text(fields, "deviceID"));
  return value ? at(place, ib::PciAddress::parse(*value)) : ib::PciAddress();
}

}  // namespace

Result<std::optional<std::string>> text(Fields& fields, std::string_view key) {
  std::optional<std::string> value = TRY(fields.string(key));
  if (value && value->empty()) value.reset();
  return value;
}

Status check_ipam(const cni::Network& network) {
  if (network.ipam_type != kDhcp) return ok();
  return Error(Code::unsupported,
               "ipam.type: \"" + std::string(kDhcp) +
                   "\" cannot serve InfiniBand: its daemon builds requests from 6-byte Ethernet "
                   "addresses; use host-local, static, whereabouts or another one");
}

Result<Keys> Keys::of(const Value& document) {
  Fields top = TRY(Fields::of(document));
  return Keys(std::move(top));
}

Status Keys::read_runtime_config() {
  const std::optional<Value> runtime = TRY(top_.find("runtimeConfig"));
  if (runtime) runtime_ = TRY(Fields::of(*runtime));
  return ok();
}

Status Keys::read_args() {
  const std::optional<Value> args = TRY(top_.find("args"));
  if (!args) return ok();
  args_ = TRY(Fields::of(*args));
  const std::optional<Value> cni = TRY(args_->find("cni"));
  if (cni) cni_args_ = TRY(Fields::of(*cni));
  return ok();
}

Status Keys::read(Settings& settings) {
  for (const std::string_view key : cni::kNetworkKeys) TRY(top_.find(key));
  // Multus adds it beside deviceID, with the same value.
  TRY(top_.find("pciBusID"));
  TRY(read_runtime_config());
  TRY(read_args());
  TRY(read_state_folder(settings));
  TRY(read_agent_socket(settings));
  TRY(read_timeout(settings));
  TRY(read_log_level(settings));
  return read_log_file(settings);
}

void Keys::read_remains(Settings& settings) {
  const auto note = [&](const Status& status) {
    if (!status) settings.warnings.push_back(status.error().text());
  };
  // One that is wrong is among the network's own warnings.
  (void)read_runtime_config();
  note(read_state_folder(settings));
  note(read_agent_socket(settings));
  note(read_timeout(settings));
  note(read_log_level(settings));
  note(read_log_file(settings));
}

Status Keys::read_state_folder(Settings& settings) {
  const Path folder = TRY(path(top_, "stateDir", "stateDir"));
  if (!folder.empty()) settings.state_folder = folder;
  return ok();
}

Status Keys::read_agent_socket(Settings& settings) {
  settings.agent_socket = TRY(path(top_, "agentSocket", "agentSocket"));
  return ok();
}

Status Keys::read_timeout(Settings& settings) {
  const std::optional<int64_t> seconds = TRY(top_.integer("timeoutSeconds", 1, 110));
  if (seconds) settings.timeout = std::chrono::seconds(*seconds);
  return ok();
}

Status Keys::read_log_level(Settings& settings) {
  const std::optional<std::string> level = TRY(text(top_, "logLevel"));
  if (level) settings.log_level = TRY(at("logLevel", log::parse_level(*level)));
  return ok();
}

Status Keys::read_log_file(Settings& settings) {
  settings.log_file = TRY(path(top_, "logFile", "logFile"));
  return ok();
}

Result<Path> Keys::path(Fields& fields, std::string_view key, const std::string& place) {
  const std::optional<std::string> value = TRY(text(fields, key));
  if (!value) return Path();
  const Path path(*value);
  const bool climbs = std::find(path.begin(), path.end(), Path("..")) != path.end();
  if (path.is_absolute() && !climbs && value->find('\0') == std::string::npos) return path;
  return Error(Code::invalid, place + ": \"" + *value + "\" is no absolute path without \"..\"");
}

Result<ib::PciAddress> Keys::device() {
  const ib::PciAddress device = TRY(read_address(top_, "deviceID"));
  ib::PciAddress injected;
  if (runtime_) injected = TRY(read_address(*runtime_, "runtimeConfig.deviceID"));
  if (!device.empty() && !injected.empty() && device != injected) {
    return Error(Code::invalid, "deviceID: \"" + device.text() +
                                    "\" and runtimeConfig.deviceID: \"" + injected.text() +
                                    "\" differ: which device is meant?");
  }
  return device.empty() ? injected : device;
}

Result<std::optional<ib::PKey>> Keys::pkey() {
  const std::optional<Value> value = TRY(top_.find("pkey"));
  if (!value) return std::optional<ib::PKey>();
  ib::PKey key;
  if (value->is_number()) {
    const int64_t number = TRY(value->integer());
    key = TRY(at("pkey", ib::PKey::from_number(number)));
  } else {
    const std::string text = TRY(value->string());
    if (text.empty()) return std::optional<ib::PKey>();
    key = TRY(at("pkey", ib::PKey::parse(text)));
  }
  TRY(at("pkey", ib::check_tenant(key)));
  return std::optional(key);
}

// 68 is the least that IPv4 works with, 65520 the most of IPoIB's connected mode. Other plugins
// take 0 for none.
Result<std::optional<uint32_t>> Keys::mtu() {
  const std::optional<json::Value> value = TRY(top_.find("mtu"));
  if (value && value->is_number() && value->text() == "0") return std::optional<uint32_t>();
  const std::optional<int64_t> mtu = TRY(top_.integer("mtu", 68, 65520));
  if (!mtu) return std::optional<uint32_t>();
  return std::optional(static_cast<uint32_t>(*mtu));
}

void Keys::warn(Settings& settings) const {
  note_spellings(top_, "", settings);
  if (runtime_) note_spellings(*runtime_, "runtimeConfig.", settings);
  if (args_) note_spellings(*args_, "args.", settings);
  if (cni_args_) note_spellings(*cni_args_, "args.cni.", settings);
  for (const std::string& key : top_.unknown())
    settings.warnings.push_back("the key \"" + key + "\" is unknown and ignored");
}

}  // namespace ibpod::attach
