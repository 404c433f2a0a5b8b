// Attacks by what a node may say: n1, which has been compromised.
#pragma once

#include "tests/fabric/security/attackers.h"

namespace ibpod {

// Reports the P_Key tables of 20 ports, as long as they are accepted, full of keys that those ports
// were not given. Answered calls count as connected, refused ones as cut.
Attack::Done tell_tables(const SecureFixture& fixture, Deadline end);

// As many watches as one caller may have, on connections that nobody reads from, and changes to
// tell of.
Attack::Done never_read(const SecureFixture& fixture, Deadline end);

}  // namespace ibpod
