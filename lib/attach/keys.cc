#include "lib/attach/keys.h"

#include "lib/attach/ipam.h"
#include "lib/base/words.h"
#include "lib/ib/partition_name.h"

#include <algorithm>
#include <cctype>

namespace ibpod::attach {
namespace {

using json::Fields;
using json::Value;
using PartitionRequests = std::vector<node::PartitionRequest>;

// /var/run is a link to /run.
Path without_link(const Path& folder) {
  const std::string normal = (folder / "").lexically_normal().string();
  return normal.starts_with("/var/run/") ? normal.substr(4) : normal;
}

Result<ib::PKey> read_pkey(const std::string& text) {
  Result<ib::PKey> key = ib::PKey::parse(text);
  const bool is_name = ib::is_partition_name(text) && std::isalpha(text.front()) != 0;
  if (key || !is_name) return key;
  return Error(Code::invalid, key.error().text() + "; to name a partition, use \"partition\"");
}

Status check_slips_of(const Fields& fields, const std::string& place) {
  for (const std::string& key : fields.unknown()) {
    const std::string meant = fields.sure_slip_of(key);
    if (!meant.empty()) return Error(Code::invalid, place + key + ": unknown key" + meant);
  }
  return ok();
}

template <typename T>
Status status_of(const Result<T>& read) {
  return read ? ok() : Status(read.error());
}

// unsupported for an IPAM plugin that cannot serve InfiniBand.
Status check_ipam(Fields& top) {
  const std::optional<Value> ipam = TRY(top.find("ipam"));
  if (!ipam) return ok();
  Fields inside = TRY(Fields::of(*ipam));
  const std::optional<std::string> type = TRY(text(inside, "type"));
  if (type != kDhcp) return ok();
  return Error(Code::unsupported,
               "ipam.type: \"" + std::string(kDhcp) +
                   "\" cannot serve InfiniBand: its daemon builds requests from 6-byte Ethernet "
                   "addresses; use host-local, static, whereabouts or another one");
}

// Returns an empty address if the key is empty.
Result<ib::PciAddress> read_address(Fields& fields, std::string_view place) {
  const std::optional<std::string> value = TRY(text(fields, "deviceID"));
  return value ? at(place, ib::PciAddress::parse(*value)) : ib::PciAddress();
}

Status check_name(const std::string& name) {
  if (ib::is_partition_name(name)) return ok();
  return Error(Code::invalid, "invalid partition name \"" + name + "\": expected up to " +
                                  std::to_string(ib::kMostPartitionName) +
                                  " letters, digits and ._-");
}

Status check_membership(const std::string& membership) {
  static const Words<bool> words{{"limited", true}, {"full", true}, {"both", true}};
  return membership.empty() ? ok() : status_of(at("membership", parse_word(words, membership)));
}

Result<node::PartitionRequest> read_request(const Value& value) {
  node::PartitionRequest request;
  if (value.is_string()) {
    request.name = TRY(value.string());
  } else {
    Fields fields = TRY(Fields::of(value));
    const std::optional<std::string> name = TRY(text(fields, "name"));
    const std::optional<std::string> membership = TRY(text(fields, "membership"));
    request = {name.value_or(""), membership.value_or("")};
    const std::vector<std::string> unknown = fields.unknown();
    if (!unknown.empty())
      return value.wrong(unknown.front() + ": unknown key" + fields.instead_of(unknown.front()));
  }
  TRY(check_name(request.name));
  TRY(check_membership(request.membership));
  return request;
}

Result<PartitionRequests> read_one(Fields& fields, const std::string& place) {
  const std::optional<std::string> name = TRY(text(fields, "partition"));
  if (!name) return PartitionRequests();
  TRY(check_name(*name).during(place));
  return PartitionRequests{{*name}};
}

Result<PartitionRequests> read_list(Fields& fields) {
  const std::optional<Value> list = TRY(fields.find("partitions"));
  PartitionRequests requests;
  if (!list) return requests;
  const std::vector<Value> elements = TRY(list->elements());
  if (elements.size() > kMostPartitions)
    return Error(Code::invalid, "partitions: expected up to " + std::to_string(kMostPartitions) +
                                    ", got " + std::to_string(elements.size()));
  for (const Value& element : elements) {
    const node::PartitionRequest request = TRY(read_request(element).during("partitions"));
    const bool twice = std::any_of(requests.begin(), requests.end(),
                                   [&](const auto& one) { return one.name == request.name; });
    if (twice) return Error(Code::invalid, "partitions: \"" + request.name + "\" is listed twice");
    requests.push_back(request);
  }
  return requests;
}

// The nonempty one of the two; invalid if both are set and differ.
Result<PartitionRequests> one_of(const PartitionRequests& first, const std::string& first_place,
                                 const PartitionRequests& second, const std::string& second_place) {
  if (first.empty()) return second;
  if (second.empty() || first == second) return first;
  return Error(Code::invalid, second_place + ": " + first_place + " has another partition (\"" +
                                  first.front().name + "\"): remove one of the two");
}

}  // namespace

Result<std::optional<std::string>> text(Fields& fields, std::string_view key) {
  std::optional<std::string> value = TRY(fields.string(key));
  if (value && value->empty()) value.reset();
  return value;
}

Result<Path> plain_path(const std::string& value, const std::string& place) {
  Path path(value);
  const bool climbs = std::find(path.begin(), path.end(), Path("..")) != path.end();
  if (path.is_absolute() && !climbs && value.find('\0') == std::string::npos) return path;
  return Error(Code::invalid,
               place + ": expected an absolute path without \"..\", got \"" + value + "\"");
}

// The document is an object: cni::parse_document() checks it for all plugins.
Keys::Keys(const Value& document, cni::Verb verb)
    : verb_(verb), top_(Fields::of(document.is_object() ? document : Value::object()).value()) {
  if (!document.is_object()) refuse(document.members().error());
}

void Keys::refuse(const Status& status) {
  if (!status && !error_) error_ = status.error();
}

void Keys::note(const Status& status) {
  refuse(status);
  if (!status && verb_ == cni::Verb::del) warnings_.push_back(status.error().text());
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

void Keys::read(Settings& settings) {
  read_known();
  note(read_timeout(settings));
  const Status state_folder = read_path(settings, "stateDir", settings.state_folder);
  note(state_folder);
  const Result<Path> refused = path(top_, "stateDir", "stateDir");
  if (!state_folder && refused) settings.refused_state_folder = *refused;
  note(read_path(settings, "agentSocket", settings.agent_socket));
  note(read_path(settings, "logFile", settings.log_file));
  note(read_log_level(settings));
}

void Keys::warn(std::string text) {
  if (verb_ != cni::Verb::del) warnings_.push_back(std::move(text));
}

// A wrong one is among the network's own warnings (cni::parse_network_for_del).
void Keys::read_known() {
  for (const std::string_view key : cni::kNetworkKeys) refuse(status_of(top_.find(key)));
  refuse(check_ipam(top_));
  // Multus adds it beside deviceID, with the same value.
  refuse(status_of(top_.find("pciBusID")));
  refuse(read_runtime_config());
  refuse(read_args());
}

Status Keys::read_timeout(Settings& settings) {
  const std::optional<int64_t> seconds = TRY(top_.integer("timeoutSeconds", 1, 110));
  if (seconds) settings.timeout = std::chrono::seconds(*seconds);
  return ok();
}

// Tenants write networks: these keys select files and sockets that root writes and trusts.
Status Keys::check_own(const Settings& settings, std::string_view key, bool same) const {
  if (settings.allow_in_networks || same) return ok();
  return Error(Code::invalid, std::string(key) +
                                  ": a network cannot set it on this node: set it in " +
                                  std::string(kNodeConfigFile) +
                                  " on the node, or allow it there with \"allowInNetworks\": true");
}

Status Keys::read_path(Settings& settings, std::string_view key, Path& value) {
  const Path given = TRY(path(top_, key, std::string(key)));
  if (given.empty()) return ok();
  TRY(check_own(settings, key, given == value));
  value = given;
  return ok();
}

Status Keys::read_log_level(Settings& settings) {
  const std::optional<std::string> given = TRY(text(top_, "logLevel"));
  if (!given) return ok();
  const log::Level level = TRY(at("logLevel", log::parse_level(*given)));
  TRY(check_own(settings, "logLevel", level == settings.log_level));
  settings.log_level = level;
  return ok();
}

// Multus writes the key, but so may the network's author.
Result<Path> Keys::device_info(const Path& folder) {
  if (!runtime_) return Path();
  const std::string place = "runtimeConfig.CNIDeviceInfoFile";
  const Path file = TRY(path(*runtime_, "CNIDeviceInfoFile", place));
  if (file.empty() || without_link(file.parent_path()) == without_link(folder)) return file;
  return Error(Code::invalid, place + ": \"" + file.string() + "\" is not in " + folder.string() +
                                  ", the only folder that this node allows (deviceInfoDir in " +
                                  std::string(kNodeConfigFile) + ")");
}

Result<Path> Keys::path(Fields& fields, std::string_view key, const std::string& place) {
  const std::optional<std::string> value = TRY(text(fields, key));
  if (!value) return Path();
  return plain_path(*value, place);
}

Result<ib::PciAddress> Keys::device() {
  const ib::PciAddress device = TRY(read_address(top_, "deviceID"));
  ib::PciAddress injected;
  if (runtime_) injected = TRY(read_address(*runtime_, "runtimeConfig.deviceID"));
  if (!device.empty() && !injected.empty() && device != injected) {
    return Error(Code::invalid, "deviceID: \"" + device.text() +
                                    "\" and runtimeConfig.deviceID: \"" + injected.text() +
                                    "\" differ: both must name the same device");
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
    if (!value->is_string())
      return value->wrong("expected a P_Key (\"0x8001\" or a number), got " + value->text());
    const std::string text = TRY(value->string());
    if (text.empty()) return std::optional<ib::PKey>();
    key = TRY(at("pkey", read_pkey(text)));
  }
  TRY(at("pkey", ib::check_member(key)));
  return std::optional(key);
}

// 68 is the least that IPv4 works with, 65520 the most of IPoIB's connected mode. 0 means none, as
// in other plugins.
Result<std::optional<uint32_t>> Keys::mtu() {
  const std::optional<json::Value> value = TRY(top_.find("mtu"));
  if (value && value->is_number() && value->text() == "0") return std::optional<uint32_t>();
  const std::optional<int64_t> mtu = TRY(top_.integer("mtu", 68, 65520));
  if (!mtu) return std::optional<uint32_t>();
  return std::optional(static_cast<uint32_t>(*mtu));
}

Status Keys::check_slips() const {
  TRY(check_slips_of(top_, ""));
  return cni_args_ ? check_slips_of(*cni_args_, "args.cni.") : ok();
}

void Keys::warn_of_spellings(const Fields& fields, const std::string& place) {
  for (const std::string& warning : fields.warnings()) warnings_.push_back(place + warning);
}

void Keys::find_unread(Settings& settings) {
  if (verb_ == cni::Verb::del) return;
  if (verb_ == cni::Verb::add) refuse(check_slips());
  warn_of_spellings(top_, "");
  if (runtime_) warn_of_spellings(*runtime_, "runtimeConfig.");
  if (args_) warn_of_spellings(*args_, "args.");
  if (cni_args_) warn_of_spellings(*cni_args_, "args.cni.");
  for (const std::string& key : top_.unknown())
    warnings_.push_back("the key \"" + key + "\" is unknown and ignored" + top_.meant_by(key));
  settings.unknown = top_.unknown();
  if (!cni_args_) return;
  for (const std::string& key : cni_args_->unknown()) settings.unknown.push_back("args.cni." + key);
}

Result<PartitionRequests> read_partitions(Keys& keys) {
  const PartitionRequests named = TRY(read_one(keys.top(), "partition"));
  const PartitionRequests listed = TRY(read_list(keys.top()));
  PartitionRequests requests = TRY(one_of(named, "partition", listed, "partitions"));
  PartitionRequests asked;
  if (keys.cni_args()) asked = TRY(read_one(*keys.cni_args(), "args.cni.partition"));
  requests = TRY(one_of(requests, "the network", asked, "args.cni.partition"));
  const std::optional<ib::PKey> pkey = TRY(keys.pkey());
  if (!pkey || requests.empty()) return requests;
  return Error(Code::invalid, "pkey: " + pkey->text() + " and partition \"" +
                                  requests.front().name +
                                  "\" are both set: remove pkey; a partition has its own P_Key");
}

}  // namespace ibpod::attach
