#include "tests/support/ufm/call.h"

#include <algorithm>
#include <iterator>

namespace ibpod::fake_ufm {

std::string_view name(Operation operation) {
  switch (operation) {
    case Operation::list:
      return "list";
    case Operation::read:
      return "read";
    case Operation::post:
      return "post";
    case Operation::add_empty:
      return "add_empty";
    case Operation::put:
      return "put";
    case Operation::remove_guids:
      return "remove_guids";
    case Operation::remove_guids_action:
      return "remove_guids_action";
    case Operation::delete_partition:
      return "delete_partition";
    case Operation::set_qos:
      return "set_qos";
    case Operation::version:
      return "version";
    case Operation::settings:
      return "settings";
    case Operation::ports:
      return "ports";
    case Operation::vports:
      return "vports";
    case Operation::other:
      return "other";
  }
  return "";
}

bool is_of_pkeys(Operation operation) { return operation <= Operation::set_qos; }

bool is_write(Operation operation) { return is_of_pkeys(operation) && operation > Operation::read; }

std::string text(const LogEntry& entry) {
  const Call& call = entry.call;
  std::string line = call.caller + " " + std::string(name(call.operation));
  if (call.pkey != ib::PKey()) line += " " + call.pkey.text();
  if (!call.guids.empty()) line += " " + std::to_string(call.guids.size()) + " GUIDs";
  if (call.membership) line += " " + std::string(ib::name(*call.membership));
  line += ": " + std::to_string(entry.status);
  if (entry.delivery == Delivery::reset || entry.delivery == Delivery::never)
    line += " (not delivered)";
  return line;
}

std::vector<LogEntry> writes_outside(const std::vector<LogEntry>& log, const std::string& caller,
                                     ib::PKey least, ib::PKey most) {
  std::vector<LogEntry> found;
  std::copy_if(log.begin(), log.end(), std::back_inserter(found), [&](const LogEntry& entry) {
    const Call& call = entry.call;
    return call.caller == caller && is_write(call.operation) &&
           (call.pkey < least || call.pkey > most);
  });
  return found;
}

std::vector<LogEntry> calls_of(const std::vector<LogEntry>& log, const std::string& caller,
                               Operation operation) {
  std::vector<LogEntry> found;
  std::copy_if(log.begin(), log.end(), std::back_inserter(found), [&](const LogEntry& entry) {
    return entry.call.caller == caller && entry.call.operation == operation;
  });
  return found;
}

}  // namespace ibpod::fake_ufm
