// The result of ADD, in every version of the specification.
#pragma once

#include "lib/base/result.h"
#include "lib/cni/version.h"
#include "lib/ip/prefix.h"
#include "lib/json/value.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::cni {

struct Interface {
  std::string name;
  std::string mac;
  std::optional<uint32_t> mtu;
  std::string sandbox;
  std::string pci_id;
  std::string socket_path;
  bool operator==(const Interface&) const = default;
};

struct IpConfig {
  ip::Prefix address;
  std::optional<ip::Address> gateway;
  std::optional<size_t> interface;  // index into interfaces
  bool operator==(const IpConfig&) const = default;
};

struct Route {
  ip::Prefix destination;
  std::optional<ip::Address> gateway;
  std::optional<uint32_t> mtu, advmss, priority, table;
  std::optional<uint8_t> scope;
  bool operator==(const Route&) const = default;
};

struct AddResult {
  std::vector<Interface> interfaces;
  std::vector<IpConfig> ips;
  std::vector<Route> routes;
  json::Value dns;  // as IPAM or the configuration gave it; null where there is none
  // P_Keys that have not been seen in the port's table ("0x8001"): as granted if that is known,
  // else as requested.
  std::vector<std::string> unverified;
};

// Reads a result of any supported version (an IPAM's answer, prevResult); one that does not name
// its version by its form. invalid names the path, also of an interface index that is out of range.
Result<AddResult> parse_result(const json::Value& document);
// The result as `version` wants it: fields that a version does not know are left out,
// "ips[].version" for 0.3.x and 0.4.0, ip4/ip6 (the first address of each family) for 0.1.0 and
// 0.2.0. The specification has no place for what is unverified: it is in a key of our own, "ibpod",
// which parse_result() passes over, as the CNI project's library does.
json::Value to_json(const AddResult& result, Version version);

// invalid if a "dns" object does not have the specification's form, in which the readers of our
// result expect it.
Status check_dns(const json::Value& dns);

}  // namespace ibpod::cni
