#include "lib/node/record.h"

#include "lib/base/fnv.h"
#include "lib/ib/hex.h"
#include "lib/json/value.h"
#include "lib/json/version.h"

namespace ibpod::node {
namespace {

using json::Value;

constexpr uint32_t kOldest = 1, kWithPartitions = 2, kNewest = kWithPartitions;

// Against torn and bit-rotten files, not against anybody.
std::string checksum(std::string_view text) { return ib::hex(fnv1a(text), 16); }

Value strings(const std::vector<std::string>& texts) {
  Value list = Value::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

// 64-bit numbers travel as hexadecimal text: JSON's own lose their lower digits in many readers.
Status read(const Value& value, uint64_t& wide) {
  const std::string text = TRY(value.string());
  const std::optional<uint64_t> number = ib::parse_hex(text);
  if (!number) return value.wrong("expected hexadecimal digits");
  wide = *number;
  return ok();
}

Status read(const Value& value, std::string& text) {
  text = TRY(value.string());
  return ok();
}

Status read(const Value& value, Path& path) {
  path = TRY(value.string());
  return ok();
}

Status read(const Value& value, bool& flag) {
  flag = TRY(value.boolean());
  return ok();
}

Status read(const Value& value, uint32_t& number) {
  const int64_t wide = TRY(value.integer(0, UINT32_MAX));
  number = static_cast<uint32_t>(wide);
  return ok();
}

Status read(const Value& value, LinkPolicy& policy) {
  const int64_t number = TRY(value.integer(0, 2));
  policy = static_cast<LinkPolicy>(number);
  return ok();
}

Status read(const Value& value, Stage& stage) {
  const int64_t number = TRY(value.integer(0, 2));
  stage = static_cast<Stage>(number);
  return ok();
}

Status read(const Value& value, nl::IfIndex& index) {
  const int64_t number = TRY(value.integer(0, INT32_MAX));
  index = static_cast<nl::IfIndex>(number);
  return ok();
}

Status read(const Value& value, nl::IpoibMode& mode) {
  const int64_t number = TRY(value.integer(0, 1));
  mode = static_cast<nl::IpoibMode>(number);
  return ok();
}

// What has a text of its own: GUIDs, P_Keys, PCI addresses.
template <typename T>
requires requires(std::string_view text) { T::parse(text); }
Status read(const Value& value, T& parsed) {
  const std::string text = TRY(value.string());
  parsed = TRY(T::parse(text));
  return ok();
}

Status read(const Value& value, nl::HardwareAddress& address) {
  const std::string digits = TRY(value.string());
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    const std::optional<uint64_t> byte = ib::parse_hex(std::string_view(digits).substr(i, 2));
    if (!byte) return value.wrong("expected hexadecimal digits");
    address.push_back(static_cast<uint8_t>(*byte));
  }
  return ok();
}

Status read(const Value& value, Guids& guids);
Status read(const Value& value, OriginalNetdev& netdev);
Status read(const Value& value, Namespace& netns);
Status read(const Value& value, Spec& spec);
Status read(const Value& value, Original& found);
Status read(const Value& value, PodName& pod);
Status read(const Value& value, Child& child);
Status read(const Value& value, PartitionRequest& request);

template <typename T>
Status read(const Value& value, std::vector<T>& list) {
  const std::vector<Value> elements = TRY(value.elements());
  for (const Value& element : elements) TRY(read(element, list.emplace_back()));
  return ok();
}

// A member that has to be there.
template <typename T>
Status read(const Value& parent, std::string_view key, T& member) {
  const Value value = TRY(parent.at(key));
  return read(value, member);
}

template <typename T>
Status read(const Value& parent, std::string_view key, std::optional<T>& member) {
  const std::optional<Value> value = parent.find(key);
  return value ? read(*value, member.emplace()) : ok();
}

Value write(const Guids& guids) {
  return Value::object().set("node", guids.node.text()).set("port", guids.port.text());
}

Status read(const Value& value, Guids& guids) {
  TRY(read(value, "node", guids.node));
  return read(value, "port", guids.port);
}

Value write(const Namespace& netns) {
  Value value = Value::object();
  value.set("path", netns.path.string()).set("device", ib::hex(netns.identity.device, 16));
  value.set("inode", ib::hex(netns.identity.inode, 16));
  if (netns.identity.cookie) value.set("cookie", ib::hex(*netns.identity.cookie, 16));
  return value;
}

Status read(const Value& value, Namespace& netns) {
  TRY(read(value, "path", netns.path));
  TRY(read(value, "device", netns.identity.device));
  TRY(read(value, "inode", netns.identity.inode));
  return read(value, "cookie", netns.identity.cookie);
}

Value write(const PartitionRequest& request) {
  Value value = Value::object().set("name", request.name);
  if (!request.membership.empty()) value.set("membership", request.membership);
  if (request.pkey) value.set("pkey", request.pkey->text());
  return value;
}

Status read(const Value& value, PartitionRequest& request) {
  TRY(read(value, "name", request.name));
  TRY(read(value, "pkey", request.pkey));
  const std::optional<Value> membership = value.find("membership");
  return membership ? read(*membership, request.membership) : ok();
}

Value write(const Spec& spec) {
  Value value = Value::object();
  value.set("ifname", spec.ifname).set("isolation", spec.isolation);
  if (spec.guids) value.set("guids", write(*spec.guids));
  if (spec.policy) value.set("policy", static_cast<uint32_t>(*spec.policy));
  if (spec.mtu) value.set("mtu", *spec.mtu);
  if (spec.pkey) value.set("pkey", spec.pkey->text());
  if (spec.partitions.empty()) return value;
  Value partitions = Value::array();
  for (const PartitionRequest& request : spec.partitions) partitions.push(write(request));
  return value.set("partitions", partitions);
}

Status read(const Value& value, Spec& spec) {
  TRY(read(value, "ifname", spec.ifname));
  TRY(read(value, "isolation", spec.isolation));
  TRY(read(value, "guids", spec.guids));
  TRY(read(value, "policy", spec.policy));
  TRY(read(value, "mtu", spec.mtu));
  TRY(read(value, "pkey", spec.pkey));
  const std::optional<Value> partitions = value.find("partitions");
  return partitions ? read(*partitions, spec.partitions) : ok();
}

Value write(const nl::HardwareAddress& address) {
  std::string digits;
  for (const uint8_t byte : address) digits += ib::hex(byte, 2);
  return digits;
}

Value write(const OriginalNetdev& netdev) {
  Value value = Value::object();
  value.set("name", netdev.name).set("altnames", strings(netdev.altnames)).set("mtu", netdev.mtu);
  value.set("up", netdev.up).set("address", write(netdev.address));
  value.set("mode", static_cast<uint32_t>(netdev.mode)).set("umcast", netdev.umcast);
  value.set("children", strings(netdev.children));
  return value;
}

Status read(const Value& value, OriginalNetdev& netdev) {
  TRY(read(value, "name", netdev.name));
  TRY(read(value, "altnames", netdev.altnames));
  TRY(read(value, "mtu", netdev.mtu));
  TRY(read(value, "up", netdev.up));
  TRY(read(value, "address", netdev.address));
  TRY(read(value, "mode", netdev.mode));
  TRY(read(value, "umcast", netdev.umcast));
  return read(value, "children", netdev.children);
}

Value write(const Original& found) {
  Value value = Value::object();
  value.set("driver", found.driver).set("rdma", strings(found.rdma_devices));
  if (found.netdev) value.set("netdev", write(*found.netdev));
  Value others = Value::array();
  for (const OriginalNetdev& other : found.other_netdevs) others.push(write(other));
  value.set("otherNetdevs", others);
  if (found.guids) value.set("guids", write(*found.guids));
  if (found.pf_configured) value.set("told", write(*found.pf_configured));
  if (found.policy) value.set("policy", static_cast<uint32_t>(*found.policy));
  return value;
}

Status read(const Value& value, Original& found) {
  TRY(read(value, "driver", found.driver));
  TRY(read(value, "rdma", found.rdma_devices));
  TRY(read(value, "netdev", found.netdev));
  TRY(read(value, "otherNetdevs", found.other_netdevs));
  TRY(read(value, "guids", found.guids));
  TRY(read(value, "told", found.pf_configured));
  return read(value, "policy", found.policy);
}

Value write(const Child& child) {
  Value value = Value::object();
  value.set("link", child.link).set("master", child.master).set("pkey", child.pkey.text());
  value.set("parent", static_cast<int32_t>(child.parent)).set("port", child.port.text());
  value.set("index", static_cast<int32_t>(child.index));
  value.set("mode", static_cast<uint32_t>(child.mode)).set("umcast", child.umcast);
  return value.set("address", write(child.address));
}

Status read(const Value& value, Child& child) {
  TRY(read(value, "link", child.link));
  TRY(read(value, "master", child.master));
  TRY(read(value, "parent", child.parent));
  TRY(read(value, "index", child.index));
  TRY(read(value, "port", child.port));
  TRY(read(value, "pkey", child.pkey));
  TRY(read(value, "mode", child.mode));
  TRY(read(value, "umcast", child.umcast));
  return read(value, "address", child.address);
}

Value write(const Record& record) {
  Value value = Value::object();
  value.set("plugin", record.plugin).set("attempt", record.attempt);
  value.set("network", record.network);
  value.set("containerID", record.container_id).set("ifname", record.ifname);
  value.set("pod", Value::object()
                       .set("namespace", record.pod.name_space)
                       .set("name", record.pod.name)
                       .set("uid", record.pod.uid));
  value.set("device", record.device.text())
      .set("netns", write(record.netns))
      .set("bootID", record.boot_id);
  if (record.child) value.set("child", write(*record.child));
  value.set("wanted", write(record.spec)).set("found", write(record.original));
  if (record.stage != Stage::attached) value.set("stage", static_cast<uint32_t>(record.stage));
  if (record.rebind_pending) value.set("unsettled", true);
  value.set("configuration", record.configuration)
      .set("cniArgs", record.cni_args)
      .set("cniPath", record.cni_path);
  return value;
}

Status read(const Value& value, PodName& pod) {
  TRY(read(value, "namespace", pod.name_space));
  TRY(read(value, "name", pod.name));
  return read(value, "uid", pod.uid);
}

Status read(const Value& value, Record& record) {
  TRY(read(value, "plugin", record.plugin));
  TRY(read(value, "attempt", record.attempt));
  TRY(read(value, "network", record.network));
  TRY(read(value, "containerID", record.container_id));
  TRY(read(value, "ifname", record.ifname));
  TRY(read(value, "pod", record.pod));
  TRY(read(value, "device", record.device));
  TRY(read(value, "child", record.child));
  TRY(read(value, "netns", record.netns));
  TRY(read(value, "bootID", record.boot_id));
  TRY(read(value, "wanted", record.spec));
  TRY(read(value, "found", record.original));
  const std::optional<Value> stage = value.find("stage");
  if (stage) TRY(read(*stage, record.stage));
  const std::optional<Value> unsettled = value.find("unsettled");
  if (unsettled) TRY(read(*unsettled, record.rebind_pending));
  TRY(read(value, "configuration", record.configuration));
  TRY(read(value, "cniArgs", record.cni_args));
  return read(value, "cniPath", record.cni_path);
}

Guids own_guids(const Record& record) {
  const std::optional<Guids>& own =
      record.original.guids ? record.original.guids : record.original.pf_configured;
  return own.value_or(Guids{});
}

}  // namespace

bool same(const Guids& a, const Guids& b) { return a == b || (a.none() && b.none()); }

ib::Guid port_of(const Record& record) {
  if (record.child) return record.child->port;
  return record.spec.guids.value_or(own_guids(record)).port;
}

bool has_requested_guid(const Record& record) {
  return !record.child && record.spec.guids && record.spec.guids->port != own_guids(record).port;
}

std::string text_of(const Record& record) {
  const Value attachment = write(record);
  Value document = Value::object();
  document.set(json::kVersion, record.spec.partitions.empty() ? kOldest : kWithPartitions)
      .set("checksum", checksum(attachment.text()))
      .set("attachment", attachment);
  return document.pretty() + "\n";
}

Result<Record> parse_record(std::string_view text) {
  const Value document = TRY(Value::parse(text));
  TRY(json::check_version(document, kNewest));
  std::string expected;
  TRY(read(document, "checksum", expected));
  const Value attachment = TRY(document.at("attachment"));
  if (checksum(attachment.text()) != expected)
    return Error(Code::invalid, "the checksum does not match: the file is damaged");
  Record record;
  TRY(read(attachment, record));
  return record;
}

}  // namespace ibpod::node
