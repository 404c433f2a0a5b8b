// Declared partitions: they come from a file, such as a ConfigMap's, and not from a request.
//
//   {"partitions": [{"name": "blue", "pkey": "0x0101", "membership": "full", "index0": true,
//     "ipoib": true, "mtu": 4096, "rate": 100, "sl": 2, "allowed": ["team-blue"], "proof": "port",
//     "members": [{"guid": "0x0002c90300a1b2c3", "membership": "full", "comment": "nfs-1"}]}]}
//
// Only the name is required; the defaults are those of Partition. mtu is in bytes, rate in Gb/s.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/partition.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::partitions {

struct DeclaredPartitions {
  std::vector<fabric::Partition> partitions;
  // For each entry that is left out: the path of the error, the value, and what would be right.
  std::vector<std::string> errors;
  // The path of each of `partitions` in the file, by its name: "partitions[2]".
  std::map<std::string, std::string> places;
  // Names of the entries left out, if readable: the partitions with these names stay unchanged.
  std::vector<std::string> unread;
  std::vector<std::string> unread_errors;  // of each of `unread`
  // False: an entry has no readable name. It may mean any partition that is not named here, so
  // none of those may be removed.
  bool complete = true;
};

// invalid where nothing can be made of the file as a whole. Entries are judged one by one.
Result<DeclaredPartitions> read_declared(std::string_view text);

}  // namespace ibpod::sm::partitions
