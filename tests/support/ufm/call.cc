#include "tests/support/ufm/call.h"

#include <algorithm>
#include <iterator>

namespace ibpod::fake_ufm {

Words<Operation> words_of(Operation) {
  return {{"list", Operation::list},
          {"read", Operation::read},
          {"post", Operation::post},
          {"add_empty", Operation::add_empty},
          {"put", Operation::put},
          {"remove_guids", Operation::remove_guids},
          {"remove_guids_action", Operation::remove_guids_action},
          {"delete_partition", Operation::delete_partition},
          {"set_qos", Operation::set_qos},
          {"version", Operation::version},
          {"settings", Operation::settings},
          {"ports", Operation::ports},
          {"vports", Operation::vports},
          {"list_groups", Operation::list_groups},
          {"read_group", Operation::read_group},
          {"add_group", Operation::add_group},
          {"remove_group", Operation::remove_group},
          {"other", Operation::other}};
}

Words<Delivery> words_of(Delivery) {
  return {{"whole", Delivery::whole},         {"slow", Delivery::slow},
          {"truncated", Delivery::truncated}, {"html", Delivery::html},
          {"reset", Delivery::reset},         {"never", Delivery::never}};
}

std::string_view name(Operation operation) { return word_of(words_of(operation), operation); }

bool is_of_pkeys(Operation operation) { return operation <= Operation::set_qos; }

bool is_write(Operation operation) { return is_of_pkeys(operation) && operation > Operation::read; }

bool is_of_groups(Operation operation) {
  return operation >= Operation::list_groups && operation <= Operation::remove_group;
}

std::string text(const LogEntry& entry) {
  const Call& call = entry.call;
  std::string line = call.caller + " " + std::string(name(call.operation));
  if (call.pkey != ib::PKey()) line += " " + call.pkey.text();
  if (!call.guids.empty()) line += " " + std::to_string(call.guids.size()) + " GUIDs";
  if (call.group_id != 0) line += " " + std::to_string(call.group_id);
  for (const ib::Guid guid : call.group.physical) line += " behind " + guid.text();
  for (const ib::Guid guid : call.group.virtual_guids) line += " " + guid.text();
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
