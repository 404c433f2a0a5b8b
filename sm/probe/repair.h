// Repair: a change of one block of a P_Key table.
#pragma once

#include "lib/ib/guid.h"
#include "lib/mad/pkey_table.h"

#include <cstdint>

namespace ibpod::sm::probe {

struct Repair {
  // A revoke is written before a bind. A block that removes and adds keys is a revoke.
  enum class Kind { revoke, bind };
  enum class Table {
    own,         // the port's
    switch_port  // of the switch port that it is connected to
  };
  Kind kind = Kind::bind;
  ib::Guid port;
  Table table = Table::own;
  uint16_t block = 0;
  // Written only if the block still is `expected`, so that a change by the subnet manager since
  // then is not overwritten, except within one round trip.
  mad::PKeyBlock expected = {};
  mad::PKeyBlock keys = {};
};

}  // namespace ibpod::sm::probe
