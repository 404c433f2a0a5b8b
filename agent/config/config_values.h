// The values that only the agent's settings have. Each reader answers invalid with the value's
// path, the value and what would be right.
#pragma once

#include "agent/config/config.h"

#include <string>
#include <vector>

namespace ibpod::agent::config {

// As json::read_path(); "" is none.
Result<Path> read_optional_path(const json::Value& value);
// A path that a unix socket can have: at most 107 bytes.
Result<Path> read_socket_path(const json::Value& value);
Result<Path> read_optional_socket_path(const json::Value& value);
Result<json::Value> read_objects(const json::Value& value);
// "allow" or "refuse".
Result<bool> read_permission(const json::Value& value);
Result<std::string> read_rdma_netns(const json::Value& value);
// From 5 to 3600 seconds.
Result<Duration> read_interval(const json::Value& value);
// Objects: service, name, certificate, key, ca, token, subnetPrefix. The service is at HOST:PORT.
// Of several each has a name and a prefix of its own.
Result<std::vector<FabricService>> read_fabrics(const json::Value& value);
// A DNS subdomain.
Result<std::string> read_prefix(const json::Value& value);

}  // namespace ibpod::agent::config
