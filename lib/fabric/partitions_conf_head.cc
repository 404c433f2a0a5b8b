#include "lib/fabric/partitions_conf_head.h"

#include "lib/fabric/partitions_conf_members.h"
#include "lib/fabric/partitions_conf_words.h"
#include "lib/ib/hex.h"

namespace ibpod::fabric {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// NAME=P_KEY, =P_KEY or P_KEY.
Status read_identity(const Entry& entry, PartitionDefinition& definition) {
  const std::string_view text = entry.name.text;
  const bool only_pkey = !entry.value && !text.empty() && is_digit(text.front());
  if (!entry.value && !only_pkey) {
    return wrong(entry.name.position, "partition \"" + std::string(text) +
                                          "\" has no P_Key, so OpenSM would choose one: write " +
                                          std::string(text) + "=0xNNNN");
  }
  definition.pkey = TRY(read_pkey(only_pkey ? entry.name : *entry.value));
  // OpenSM's own name for a partition without a name.
  definition.name =
      only_pkey || text.empty() ? ib::hex(definition.pkey.value(), 4) : std::string(text);
  if (definition.name.size() > kMostName) {
    return wrong(entry.name.position, "a name of " + std::to_string(definition.name.size()) +
                                          " bytes: OpenSM keeps only " + std::to_string(kMostName));
  }
  if ((definition.name == kDefaultName) == (definition.pkey == kDefaultPKey)) return ok();
  const bool is_default = definition.pkey == kDefaultPKey;
  return wrong(entry.name.position,
               "the default partition is Default=0x7fff; no other may have its name or its P_Key" +
                   std::string(is_default ? ": write Default=0x7fff" : ""));
}

Status read_own_flag(const Entry& entry, PartitionDefinition& definition,
                     const OpenSmOptions& options) {
  if (entry.name.text == "defmember") {
    const Word word = TRY(value_of(entry));
    definition.default_membership = TRY(read_membership(word));
    return check_usable(definition.default_membership, word.position, options);
  }
  if (entry.value) {
    return wrong(entry.value->position,
                 "\"" + std::string(entry.name.text) +
                     "\" takes no value: OpenSM reads it as set whatever the value is: write " +
                     std::string(entry.name.text) + " alone, or remove it");
  }
  (entry.name.text == "ipoib" ? definition.ipoib : definition.index0) = true;
  return ok();
}

bool is_own_flag(std::string_view name) {
  return name == "indx0" || name == "ipoib" || name == "defmember";
}

}  // namespace

Result<PartitionDefinition> read_head(const DefinitionTokens& tokens,
                                      const OpenSmOptions& options) {
  PartitionDefinition definition;
  TRY(read_identity(tokens.head.front(), definition));
  FlagReader flags(definition.group);
  for (size_t i = 1; i < tokens.head.size(); ++i) {
    const Entry& entry = tokens.head[i];
    if (is_own_flag(entry.name.text)) {
      TRY(flags.once(entry));
      TRY(read_own_flag(entry, definition, options));
      continue;
    }
    const bool known = TRY(flags.take(entry));
    if (!known) return flags.unknown(entry);
    if (definition.group.sl != 0 && !options.qos)
      return wrong(entry.name.position,
                   "OpenSM sets every sl to 0 unless opensm.conf has qos TRUE");
  }
  return definition;
}

}  // namespace ibpod::fabric
