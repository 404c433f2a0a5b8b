// Partitions as lines of partitions.conf: one member a line, whole words, everything said that
// OpenSM would otherwise assume.
#pragma once

#include "lib/fabric/partition_definition.h"

#include <string>

namespace ibpod::fabric {

// The text is not verified yet (verify_text(), partitions_conf.h).
std::string text_of(const PartitionDefinition& definition);

}  // namespace ibpod::fabric
