#include "lib/fabric/partitions_conf.h"
#include "lib/fabric/partitions_conf_syntax.h"
#include "lib/fabric/partitions_conf_table.h"

namespace ibpod::fabric {

Result<std::vector<PartitionDefinition>> read_partitions(std::string_view text,
                                                         const OpenSmOptions& options) {
  const LexResult parsed = lex_definitions(text);
  PartitionsConfReader table(options);
  for (const DefinitionTokens& tokens : parsed.definitions) TRY(table.add(tokens));
  TRY(parsed.end);
  return std::move(table).end();
}

Result<std::vector<PartitionDefinition>> read_partitions_conf(std::string_view text,
                                                              const OpenSmOptions& options) {
  std::vector<PartitionDefinition> definitions = TRY(read_partitions(text, options));
  for (const PartitionDefinition& definition : definitions) {
    if (definition.pkey == kDefaultPKey) return definitions;
  }
  return Error(
      Code::invalid,
      definitions.empty()
          ? "no partition is defined: OpenSM would make every port a full member of the default "
            "partition"
          : "no rule for the default partition: expected Default=0x7fff : ALL=limited, SELF=full;");
}

}  // namespace ibpod::fabric
