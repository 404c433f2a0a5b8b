// The head of a definition of partitions.conf, before its ':': name, P_Key and flags.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/partition_definition.h"
#include "lib/fabric/partitions_conf.h"
#include "lib/fabric/partitions_conf_syntax.h"

namespace ibpod::fabric {

// A partition without members and groups.
Result<PartitionDefinition> read_head(const DefinitionTokens& tokens, const OpenSmOptions& options);

}  // namespace ibpod::fabric
