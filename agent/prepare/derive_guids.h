// The GUIDs of a VF that has none of another source: derived from its PF's node GUID and its
// number alone, so that they are the same after a reboot and on whatever node the adapter is.
#pragma once

#include "lib/ib/guid.h"
#include "lib/node/record.h"

#include <cstdint>

namespace ibpod::agent::prepare {

// The rule has room for so many VFs of a PF.
inline constexpr uint32_t kMostVfs = 254;

// An adapter's GUID is the maker's OUI (3 bytes), a filler, mostly 03:00 (2 bytes), and the
// adapter's serial number (3 bytes). A VF has the PF's OUI with the bit that says "locally
// administered" (02 in the first byte) and the PF's serial number, so that it is seen whose it is;
// the filler is XORed with 03:00 and with 2 * (VF + 1), and 1 more for the port:
//
//   PF             0c:42:a1:03:00:12:34:56
//   VF 0    node   0e:42:a1:00:02:12:34:56    port   0e:42:a1:00:03:12:34:56
//   VF 1    node   0e:42:a1:00:04:12:34:56    port   0e:42:a1:00:05:12:34:56
//
// So no two VFs of a PF have the same, nor a VF's node and port, nor a VF and its PF; nor do two
// PFs that differ in OUI or serial number. Other PFs can collide (two that differ in that one bit,
// or in less than 512 of the filler); GuidsInUse finds that (guids_in_use.h).
// invalid if the PF has no GUID or `vf` is not below kMostVfs.
Result<node::Guids> derive_guids(ib::Guid pf, uint32_t vf);

}  // namespace ibpod::agent::prepare
