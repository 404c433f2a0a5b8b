#include "lib/node/record.h"

#include "lib/ib/hex.h"
#include "lib/json/value.h"

namespace ibpod::node {
namespace {

using json::Value;

constexpr int kVersion = 1;

// FNV-1a, 64 bits: against torn and bit-rotten files, not against anybody.
std::string checksum(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return ib::hex(hash, 16);
}

Value strings(const std::vector<std::string>& texts) {
  Value list = Value::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

Result<std::vector<std::string>> read_strings(const Value& parent, std::string_view key) {
  const Value list = TRY(parent.at(key));
  const std::vector<Value> elements = TRY(list.elements());
  std::vector<std::string> texts;
  for (const Value& element : elements) {
    std::string text = TRY(element.string());
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<std::string> read_string(const Value& parent, std::string_view key) {
  const Value value = TRY(parent.at(key));
  return value.string();
}

Result<bool> read_bool(const Value& parent, std::string_view key) {
  const Value value = TRY(parent.at(key));
  return value.boolean();
}

Result<uint32_t> read_number(const Value& parent, std::string_view key, int64_t most = UINT32_MAX) {
  const Value value = TRY(parent.at(key));
  const int64_t number = TRY(value.integer(0, most));
  return static_cast<uint32_t>(number);
}

// 64-bit numbers travel as hexadecimal text: JSON's own lose their lower digits in many readers.
Result<uint64_t> read_wide(const Value& value) {
  const std::string text = TRY(value.string());
  const std::optional<uint64_t> number = ib::parse_hex(text);
  if (!number) return value.wrong("expected hexadecimal digits");
  return *number;
}

Value write(const Guids& guids) {
  return Value::object().set("node", guids.node.text()).set("port", guids.port.text());
}

Result<std::optional<Guids>> read_guids(const Value& parent, std::string_view key) {
  const std::optional<Value> value = parent.find(key);
  if (!value) return std::optional<Guids>();
  const std::string node = TRY(read_string(*value, "node"));
  const std::string port = TRY(read_string(*value, "port"));
  Guids guids;
  guids.node = TRY(ib::Guid::parse(node));
  guids.port = TRY(ib::Guid::parse(port));
  return std::optional<Guids>(guids);
}

Result<std::optional<LinkPolicy>> read_policy(const Value& parent) {
  if (!parent.find("policy")) return std::optional<LinkPolicy>();
  const uint32_t number = TRY(read_number(parent, "policy", 2));
  return std::optional<LinkPolicy>(static_cast<LinkPolicy>(number));
}

Value write(const Namespace& netns) {
  Value value = Value::object();
  value.set("path", netns.path.string()).set("device", ib::hex(netns.identity.device, 16));
  value.set("inode", ib::hex(netns.identity.inode, 16));
  if (netns.identity.cookie) value.set("cookie", ib::hex(*netns.identity.cookie, 16));
  return value;
}

Result<Namespace> read_netns(const Value& value) {
  Namespace netns;
  netns.path = TRY(read_string(value, "path"));
  const Value device = TRY(value.at("device"));
  const Value inode = TRY(value.at("inode"));
  netns.identity.device = TRY(read_wide(device));
  netns.identity.inode = TRY(read_wide(inode));
  if (const std::optional<Value> cookie = value.find("cookie"))
    netns.identity.cookie = TRY(read_wide(*cookie));
  return netns;
}

Value write(const Wanted& wanted) {
  Value value = Value::object();
  value.set("ifname", wanted.ifname).set("isolation", wanted.isolation);
  if (wanted.guids) value.set("guids", write(*wanted.guids));
  if (wanted.policy) value.set("policy", static_cast<uint32_t>(*wanted.policy));
  if (wanted.mtu) value.set("mtu", *wanted.mtu);
  if (wanted.pkey) value.set("pkey", wanted.pkey->text());
  return value;
}

Result<Wanted> read_wanted(const Value& value) {
  Wanted wanted;
  wanted.ifname = TRY(read_string(value, "ifname"));
  wanted.isolation = TRY(read_bool(value, "isolation"));
  wanted.guids = TRY(read_guids(value, "guids"));
  wanted.policy = TRY(read_policy(value));
  if (value.find("mtu")) wanted.mtu = TRY(read_number(value, "mtu"));
  if (value.find("pkey")) {
    const std::string pkey = TRY(read_string(value, "pkey"));
    wanted.pkey = TRY(ib::PKey::parse(pkey));
  }
  return wanted;
}

Value write(const nl::HardwareAddress& address) {
  std::string digits;
  for (const uint8_t byte : address) digits += ib::hex(byte, 2);
  return digits;
}

Result<nl::HardwareAddress> read_address(const Value& value) {
  const std::string digits = TRY(value.string());
  nl::HardwareAddress address;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    const std::optional<uint64_t> byte = ib::parse_hex(std::string_view(digits).substr(i, 2));
    if (!byte) return value.wrong("expected hexadecimal digits");
    address.push_back(static_cast<uint8_t>(*byte));
  }
  return address;
}

Value write(const FoundNetdev& netdev) {
  Value value = Value::object();
  value.set("name", netdev.name).set("altnames", strings(netdev.altnames)).set("mtu", netdev.mtu);
  value.set("up", netdev.up).set("address", write(netdev.address));
  value.set("mode", static_cast<uint32_t>(netdev.mode)).set("umcast", netdev.umcast);
  value.set("children", strings(netdev.children));
  return value;
}

Result<FoundNetdev> read_netdev(const Value& value) {
  FoundNetdev netdev;
  netdev.name = TRY(read_string(value, "name"));
  netdev.altnames = TRY(read_strings(value, "altnames"));
  netdev.mtu = TRY(read_number(value, "mtu"));
  netdev.up = TRY(read_bool(value, "up"));
  const Value address = TRY(value.at("address"));
  netdev.address = TRY(read_address(address));
  const uint32_t mode = TRY(read_number(value, "mode", 1));
  netdev.mode = static_cast<nl::IpoibMode>(mode);
  netdev.umcast = TRY(read_bool(value, "umcast"));
  netdev.children = TRY(read_strings(value, "children"));
  return netdev;
}

Value write(const Found& found) {
  Value value = Value::object();
  value.set("driver", found.driver).set("rdma", strings(found.rdma_devices));
  if (found.netdev) value.set("netdev", write(*found.netdev));
  Value others = Value::array();
  for (const FoundNetdev& other : found.other_netdevs) others.push(write(other));
  value.set("otherNetdevs", others);
  if (found.guids) value.set("guids", write(*found.guids));
  if (found.told) value.set("told", write(*found.told));
  if (found.policy) value.set("policy", static_cast<uint32_t>(*found.policy));
  return value;
}

Result<Found> read_found(const Value& value) {
  Found found;
  found.driver = TRY(read_string(value, "driver"));
  found.rdma_devices = TRY(read_strings(value, "rdma"));
  if (const std::optional<Value> netdev = value.find("netdev"))
    found.netdev = TRY(read_netdev(*netdev));
  const Value others = TRY(value.at("otherNetdevs"));
  const std::vector<Value> elements = TRY(others.elements());
  for (const Value& element : elements) {
    FoundNetdev other = TRY(read_netdev(element));
    found.other_netdevs.push_back(std::move(other));
  }
  found.guids = TRY(read_guids(value, "guids"));
  found.told = TRY(read_guids(value, "told"));
  found.policy = TRY(read_policy(value));
  return found;
}

Value write(const Record& record) {
  Value value = Value::object();
  value.set("plugin", record.plugin).set("network", record.network);
  value.set("containerID", record.container_id).set("ifname", record.ifname);
  value.set("pod", Value::object()
                       .set("namespace", record.pod.name_space)
                       .set("name", record.pod.name)
                       .set("uid", record.pod.uid));
  value.set("device", record.device.text())
      .set("netns", write(record.netns))
      .set("bootID", record.boot_id);
  value.set("wanted", write(record.wanted)).set("found", write(record.found));
  value.set("configuration", record.configuration)
      .set("cniArgs", record.cni_args)
      .set("cniPath", record.cni_path);
  return value;
}

Result<PodName> read_pod(const Value& value) {
  PodName pod;
  pod.name_space = TRY(read_string(value, "namespace"));
  pod.name = TRY(read_string(value, "name"));
  pod.uid = TRY(read_string(value, "uid"));
  return pod;
}

Result<Record> read_record(const Value& value) {
  Record record;
  record.plugin = TRY(read_string(value, "plugin"));
  record.network = TRY(read_string(value, "network"));
  record.container_id = TRY(read_string(value, "containerID"));
  record.ifname = TRY(read_string(value, "ifname"));
  const Value pod = TRY(value.at("pod"));
  record.pod = TRY(read_pod(pod));
  const std::string device = TRY(read_string(value, "device"));
  record.device = TRY(ib::PciAddress::parse(device));
  const Value netns = TRY(value.at("netns"));
  record.netns = TRY(read_netns(netns));
  record.boot_id = TRY(read_string(value, "bootID"));
  const Value wanted = TRY(value.at("wanted"));
  record.wanted = TRY(read_wanted(wanted));
  const Value found = TRY(value.at("found"));
  record.found = TRY(read_found(found));
  record.configuration = TRY(read_string(value, "configuration"));
  record.cni_args = TRY(read_string(value, "cniArgs"));
  record.cni_path = TRY(read_string(value, "cniPath"));
  return record;
}

}  // namespace

bool same(const Guids& a, const Guids& b) { return a == b || (a.none() && b.none()); }

std::string text_of(const Record& record) {
  const Value attachment = write(record);
  Value document = Value::object();
  document.set("version", kVersion)
      .set("checksum", checksum(attachment.text()))
      .set("attachment", attachment);
  return document.pretty() + "\n";
}

Result<Record> parse_record(std::string_view text) {
  const Value document = TRY(Value::parse(text));
  const uint32_t version = TRY(read_number(document, "version"));
  if (version != kVersion) {
    return Error(Code::unsupported, "version: expected " + std::to_string(kVersion) + ", got " +
                                        std::to_string(version));
  }
  const std::string expected = TRY(read_string(document, "checksum"));
  const Value attachment = TRY(document.at("attachment"));
  if (checksum(attachment.text()) != expected)
    return Error(Code::invalid, "the checksum does not match: the file is damaged");
  return read_record(attachment);
}

}  // namespace ibpod::node
