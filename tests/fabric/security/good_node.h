// GoodNode: a node whose agent asks ibpod-sm as always, while others attack it.
#pragma once

#include "lib/fabricapi/client.h"

#include <string>
#include <vector>

namespace ibpod {

class GoodNode {
 public:
  // `client` asks as `node`, on one connection, as an agent does.
  GoodNode(fabricapi::Client client, std::string node)
      : client_(std::move(client)), node_(std::move(node)) {}

  struct Calls {
    std::vector<double> ms;  // of each that was answered
    size_t failed = 0;
    std::string error;  // the last one
    // Of those that were answered, in ms; 0: none was.
    double at_percent(size_t percent) const;
  };
  // Syncs, one every 50 ms, until the time is over.
  Calls ask(Deadline end);

 private:
  fabricapi::Client client_;
  const std::string node_;
};

}  // namespace ibpod
