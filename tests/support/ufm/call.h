// Call, Outcome: what a UFM is asked to do with partitions, and what came of it. LogEntry is the
// record of both, from which a judge can say that no PUT was sent, and nothing outside of a range
// was written.
#pragma once

#include "lib/base/words.h"
#include "tests/support/ufm/state.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::fake_ufm {

enum class Operation {
  list,
  read,
  post,                 // adds GUIDs
  add_empty,            // POST /add
  put,                  // replaces members and flags
  remove_guids,         // DELETE /{pkey}/guids/{list}
  remove_guids_action,  // the deprecated POST /actions/remove_guids_from_pkey
  delete_partition,
  set_qos,
  version,
  settings,
  ports,
  vports,
  list_groups,  // of GUIDs: physical_virtual_mapping
  read_group,
  add_group,
  remove_group,
  other,  // Call::path says what
};
Words<Operation> words_of(Operation);
std::string_view name(Operation operation);
bool is_of_pkeys(Operation operation);
// True if it is to change a partition.
bool is_write(Operation operation);
bool is_of_groups(Operation operation);

// Empty: the call does not have the argument.
struct Call {
  std::string caller = {};  // its user: ibpod-sm, or another administrator
  Operation operation = Operation::list;
  ib::PKey pkey = {};  // as sent, so it may be one that no partition can have; 0x0000: list
  std::vector<ib::Guid> guids = {};
  std::optional<ib::Membership> membership = {};
  std::vector<ib::Membership> memberships = {};
  std::optional<bool> index0 = {};
  std::optional<bool> ip_over_ib = {};
  std::optional<std::string> partition_name = {};
  std::optional<Qos> qos = {};
  GuidGroup group = {};   // of add_group
  int group_id = 0;       // of read_group and remove_group
  std::string path = {};  // "POST /ufmRest/resources/pkeys", if it came over HTTP
};

// How the answer reaches the caller.
enum class Delivery {
  whole,
  slow,       // whole, after Outcome::delay
  truncated,  // JSON that ends in the middle
  html,       // a page of a proxy
  reset,      // the connection ends without an answer
  never,
};
Words<Delivery> words_of(Delivery);

struct Outcome {
  int status = 200;
  std::string text = {};       // the reason of an error, as UFM writes it: plain text
  Partitions partitions = {};  // of list; of read: the one, or nothing
  GuidGroups groups = {};      // of list_groups; of read_group: the one
  int group_id = 0;            // of add_group
  Delivery delivery = Delivery::whole;
  std::chrono::milliseconds delay{0};
  bool ok() const { return status / 100 == 2; }
  // The caller has read the answer, and could understand it.
  bool delivered() const { return delivery == Delivery::whole || delivery == Delivery::slow; }
};

struct LogEntry {
  std::chrono::system_clock::time_point at;
  Call call;
  int status = 0;  // which the caller did not learn if the answer was lost
  Delivery delivery = Delivery::whole;
  bool changed = false;  // the partitions, or the groups of GUIDs
  // The same moment by a clock that does not jump, and that all processes of a machine share.
  std::chrono::steady_clock::time_point monotonic = std::chrono::steady_clock::now();
};

// One line: "ibpod-sm post 0x0005 2 GUIDs limited: 200".
std::string text(const LogEntry& entry);

// The writes to P_Keys outside of `least` to `most`, also those that were refused.
std::vector<LogEntry> writes_outside(const std::vector<LogEntry>& log, const std::string& caller,
                                     ib::PKey least, ib::PKey most);
std::vector<LogEntry> calls_of(const std::vector<LogEntry>& log, const std::string& caller,
                               Operation operation);

}  // namespace ibpod::fake_ufm
