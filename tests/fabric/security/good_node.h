// GoodNode: a node whose agent asks ibpod-sm as always, while others attack it.
#pragma once

#include "lib/fabricapi/client.h"

#include <string>
#include <vector>

namespace ibpod {

class GoodNode {
 public:
  // `client` asks as the request's node, on one connection, as an agent does.
  GoodNode(fabricapi::Client client, fabricapi::BindRequest request)
      : client_(std::move(client)), request_(std::move(request)) {}

  struct Calls {
    std::vector<double> ms;  // of each Sync that was answered
    size_t bound = 0;        // Binds that were verified and ended
    size_t failed = 0;
    std::string error;  // the last one
    // The percentile over the answered calls, in ms; 0: none was answered.
    double at_percent(size_t percent) const;
    Calls& operator+=(const Calls& more);
  };
  // Syncs, one every 50 ms, until the time is over, and meanwhile one Bind and Unbind after the
  // other, once at least.
  Calls ask(Deadline end);

 private:
  Calls sync(Deadline end);
  Calls bind(Deadline end);
  fabricapi::Client client_;
  const fabricapi::BindRequest request_;
};

}  // namespace ibpod
