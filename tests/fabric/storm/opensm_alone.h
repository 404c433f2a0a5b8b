// OpenSM without ibpod-sm, with the options that ibpod-sm gives it: what a change takes.
#pragma once

#include "tests/fabric/engine/raw_opensm.h"
#include "tests/fabric/storm/load.h"
#include "tests/fabric/storm/ports.h"

namespace ibpod {

class OpenSmAlone {
 public:
  explicit OpenSmAlone(Ports& ports);

  // One sweep that brings a change, from the SIGHUP to SUBNET UP, while nothing else goes on.
  Times sweep(int rounds);
  // From the SIGHUP to the key in the table, while nothing else goes on.
  Times until_visible(int rounds);
  // A SIGHUP for each pod that comes or goes, as a driver does that knows no better: prints how
  // long each waits for its key, and how many have gone before they had one.
  void run(const Storm& storm);

 private:
  static sm::opensm::OpenSmSettings settings();
  RawOpenSm opensm_;
  Ports& ports_;
};

}  // namespace ibpod
