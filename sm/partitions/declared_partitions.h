// Declared partitions: those of a file, such as a ConfigMap's, instead of requests.
//
//  {"partitions": [{"name": "blue", "pkey": "0x0101", "membership": "full", "index0": true,
//    "ipoib": true, "mtu": 4096, "rate": 100, "sl": 2, "allowed": ["team-blue"], "proof":
//    "port",
//    "members": [{"guid": "0x0002c90300a1b2c3", "membership": "full", "comment": "nfs-1"}]}]}
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
  // For each entry left out: the path of the error, the value, and the expected form.
  std::vector<std::string> errors;
  // The path in the file of each of `partitions`, by name: "partitions[2]".
  std::map<std::string, std::string> places;
  // Names of the entries left out, if readable: the partitions with these names stay unchanged.
  std::vector<std::string> unread;
  std::vector<std::string> unread_errors;  // in the order of `unread`
  // False if an entry has no readable name. It may be any partition not named here, so none of
  // those may be removed.
  bool complete = true;
};

// invalid if the file as a whole cannot be read. A wrong entry is only left out.
Result<DeclaredPartitions> read_declared(std::string_view text);

}  // namespace ibpod::sm::partitions
