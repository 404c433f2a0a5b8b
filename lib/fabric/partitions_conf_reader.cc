#include "lib/fabric/partitions_conf.h"
#include "lib/fabric/partitions_conf_syntax.h"
#include "lib/fabric/partitions_conf_table.h"

namespace ibpod::fabric {

Result<std::vector<Partition>> read_partitions(std::string_view text,
                                               const OpenSmOptions& options) {
  const Parsed parsed = parse_definitions(text);
  Table table(options);
  for (const Definition& definition : parsed.definitions) TRY(table.add(definition));
  TRY(parsed.end);
  return std::move(table).end();
}

Result<std::vector<Partition>> read_partitions_conf(std::string_view text,
                                                    const OpenSmOptions& options) {
  std::vector<Partition> partitions = TRY(read_partitions(text, options));
  for (const Partition& partition : partitions) {
    if (partition.pkey == kDefaultPKey) return partitions;
  }
  return Error(
      Code::invalid,
      partitions.empty()
          ? "no partition is defined: OpenSM would make every port a full member of the default one"
          : "no rule for the default partition: expected Default=0x7fff : ALL=limited, SELF=full;");
}

}  // namespace ibpod::fabric
