#include "sm/api/authz.h"

#include <array>

namespace ibpod::sm::api {
namespace {

using fabricapi::Role;

struct Row {
  std::string_view name, action;
  bool node, reader;
};

// In the order of the enumeration. An administrator may call everything.
constexpr std::array<Row, kCalls> kRows{{
    {"create partitions", "create partition", false, false},
    {"update partitions", "update partition", false, false},
    {"delete partitions", "delete partition", false, false},
    {"list partitions", "", false, true},
    {"bind", "bind", true, false},
    {"unbind", "unbind", true, false},
    {"get a binding", "", true, true},
    {"list bindings", "", true, true},
    {"watch bindings", "", true, true},
    {"sync", "sync", true, false},
    {"observe", "observe", true, false},
    {"allocate GUIDs", "allocate GUIDs", true, false},
    {"list nodes", "", false, true},
    {"forget a node", "forget node", false, false},
    {"plan", "", false, true},
    {"explain", "", false, true},
    {"get the fabric's health", "", false, true},
}};

const Row& row_of(Call call) { return kRows.at(static_cast<size_t>(call)); }

bool has(Role role, const Row& row) {
  switch (role) {
    case Role::administrator:
      return true;
    case Role::node:
      return row.node;
    case Role::reader:
      return row.reader;
  }
  return false;
}

}  // namespace

std::string_view name(Call call) { return row_of(call).name; }
std::string_view action(Call call) { return row_of(call).action; }
bool is_reserved(Call call) { return call == Call::unbind || call == Call::sync; }

Status authorize(const fabricapi::Caller& caller, Call call, const std::string& node) {
  const Row& row = row_of(call);
  const std::string may_not =
      caller.name + ", " + std::string(name(caller.role)) + ", may not " + std::string(row.name);
  if (!has(caller.role, row)) return Error(Code::denied, may_not);
  if (caller.role != Role::node || (node == caller.node && !node.empty())) return ok();
  const std::string whose = node.empty() ? " for all nodes" : " for node " + node;
  return Error(Code::denied, may_not + whose + ", only for " + caller.node);
}

}  // namespace ibpod::sm::api
