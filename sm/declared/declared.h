// Declared partitions: those that stand in a file, such as a ConfigMap's, and not in a request.
//
//   {"partitions": [{"name": "blue", "pkey": "0x0101", "membership": "full", "index0": true,
//     "ipoib": true, "mtu": 4096, "rate": 100, "sl": 2, "allowed": ["team-blue"], "proof": "port",
//     "members": [{"guid": "0x0002c90300a1b2c3", "membership": "full", "comment": "nfs-1"}]}]}
//
// Only the name has to be there; what is left out is as in Tenancy. mtu is in bytes, rate in Gb/s.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/partition.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::declared {

struct DeclaredPartitions {
  std::vector<fabric::Partition> partitions;
  // Of entries that are left out: the path of what is wrong, the value, what would be right.
  std::vector<std::string> errors;
  // Where each of `tenancies` stands in the file, by its name: "partitions[2]".
  std::map<std::string, std::string> places;
  // Names of those, as far as they can be read: what is there under them stays as it is.
  std::vector<std::string> unread;
  std::vector<std::string> unread_errors;  // of each of `unread`
  // False: some entry does not say which partition it means. What is not named here may be meant
  // by it, and is not to be taken away.
  bool complete = true;
};

// invalid where nothing can be made of the file as a whole. Entries are judged one by one.
Result<DeclaredPartitions> read_declared(std::string_view text);

}  // namespace ibpod::sm::declared
