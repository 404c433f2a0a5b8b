// A pod's port, by user verbs: what every queue pair of a prober shares.
#pragma once

#include "lib/base/result.h"
#include "tests/vm/probes/peer_info.h"

#include <memory>

#include <infiniband/verbs.h>

namespace ibpod::probes {

template <auto close>
struct Closes {
  template <typename T>
  void operator()(T* thing) const {
    close(thing);
  }
};
using Way = std::unique_ptr<ibv_ah, Closes<ibv_destroy_ah>>;

inline constexpr uint8_t kPort = 1;

class Port {
 public:
  // The port of the only device that this network namespace has.
  static Result<Port> open();

  uint16_t lid() const;
  // The indexes whose entry is not empty now.
  std::vector<Index> indexes() const;
  Result<Way> way_to(uint16_t lid) const;
  // The completions of queue pairs since the last call.
  std::vector<ibv_wc> completions();

  ibv_pd* domain() const { return domain_.get(); }
  ibv_cq* queue() const { return queue_.get(); }

 private:
  Port() = default;
  std::unique_ptr<ibv_context, Closes<ibv_close_device>> device_;
  std::unique_ptr<ibv_pd, Closes<ibv_dealloc_pd>> domain_;
  std::unique_ptr<ibv_cq, Closes<ibv_destroy_cq>> queue_;
};

}  // namespace ibpod::probes
