// Another client of UFM, measured beside ibpod-sm: outside of the tree, named by UFM_PEER.
#pragma once

#include "tests/fabric/sm/sm_process.h"
#include "tests/fabric/storm/load.h"
#include "tests/fabric/ufm/process/ufm_process.h"

namespace ibpod {

class Peer {
 public:
  static constexpr auto kUser = "peer";
  static constexpr ib::PKey kPKey{0xb000};

  static bool is_given();
  explicit Peer(const UfmProcess& ufm);
  // A pod with this port.
  void add(unsigned host);

 private:
  TempFolder folder_;
  Background process_;
  Fd lines_;
};

// Pods come at the rate of the storm for its time, one to each host, to ibpod-sm and then to the
// peer. Prints for both the time until UFM has accepted them, and until the key is in the table,
// read by the same reader. The peer first, and ibpod-sm after it.
void compare_with_peer(const Storm& storm, SmProcess& sm, const UfmProcess& ufm, Ports& ports);

}  // namespace ibpod
