// Membership: what a port may do in a partition (IBA 1.4, volume 1, 10.9.3).
#pragma once

#include "lib/base/words.h"

#include <optional>
#include <string_view>

namespace ibpod::fabric {

// A limited member talks to full members only. `both` puts two entries into the port's table, one
// of each kind; OpenSM does that where its option allow_both_pkeys is on, and otherwise takes it
// for full (osm_prtn_config.c, partition_add_port).
enum class Membership { limited, full, both };

// As partitions.conf spells it: limited, full, both.
std::string_view name(Membership membership);
Words<Membership> words_of(Membership);
// The whole word and nothing else. OpenSM also takes any start of one, the empty text among them,
// which is `full`.
std::optional<Membership> parse_membership(std::string_view text);

}  // namespace ibpod::fabric
