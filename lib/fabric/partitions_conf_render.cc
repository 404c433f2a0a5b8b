#include "lib/fabric/partitions_conf.h"
#include "lib/fabric/partitions_conf_writer.h"

#include <algorithm>
#include <set>

namespace ibpod::fabric {
namespace {

constexpr std::string_view kHeader =
    "# Written by ibpod-sm. What is changed here is overwritten, but for the administrator's "
    "section.\n";
constexpr std::string_view kMarker =
    "# The administrator's section: ibpod-sm keeps what stands below this line as it is.\n";

// The default partition first: OpenSM has read it even if it fails at a later one.
std::vector<const PartitionDefinition*> in_order(
    const std::vector<PartitionDefinition>& definitions) {
  std::vector<const PartitionDefinition*> order;
  order.reserve(definitions.size());
  for (const PartitionDefinition& definition : definitions) order.push_back(&definition);
  std::stable_partition(order.begin(), order.end(), [](const PartitionDefinition* definition) {
    return definition->pkey == kDefaultPKey;
  });
  return order;
}

Status check_distinct(const std::vector<PartitionDefinition>& definitions,
                      const std::vector<PartitionDefinition>& manual) {
  std::set<ib::PKey> ours;
  for (const PartitionDefinition& definition : definitions) {
    if (!ours.insert(definition.pkey).second)
      return Error(Code::invalid, "two partitions have the P_Key " + definition.pkey.text());
  }
  for (const PartitionDefinition& foreign : manual) {
    if (ours.contains(foreign.pkey)) {
      return Error(Code::exists, "the administrator's section uses " + foreign.pkey.text() +
                                     " (\"" + foreign.name +
                                     "\"), which ibpod-sm manages: OpenSM would merge the two");
    }
  }
  return ok();
}

// The first partition that is read differently from what was written, for a message.
std::string first_difference(const std::vector<PartitionDefinition>& wanted,
                             const std::vector<PartitionDefinition>& read) {
  const auto [want, got] = std::mismatch(wanted.begin(), wanted.end(), read.begin(), read.end());
  if (want != wanted.end())
    return want->pkey.text() + " is missing from the written file, or differs in it";
  return got->pkey.text() + " is in the written file and should not be";
}

std::vector<PartitionDefinition> together(const std::vector<PartitionDefinition>& definitions,
                                          const std::vector<PartitionDefinition>& manual) {
  std::vector<PartitionDefinition> all;
  for (const PartitionDefinition* definition : in_order(definitions)) all.push_back(*definition);
  all.insert(all.end(), manual.begin(), manual.end());
  return all;
}

}  // namespace

std::optional<std::string_view> manual_section(std::string_view text) {
  // The marker is a whole line: the text before it ends with a newline.
  for (size_t at = 0; (at = text.find(kMarker, at)) != std::string_view::npos; ++at) {
    if (at == 0 || text[at - 1] == '\n') return text.substr(at + kMarker.size());
  }
  return std::nullopt;
}

Status verify_text(std::string_view text, const std::vector<PartitionDefinition>& definitions,
                   std::string_view manual, const OpenSmOptions& options) {
  const std::vector<PartitionDefinition> foreign =
      TRY(read_partitions(manual, options).during("the administrator's section"));
  TRY(check_distinct(definitions, foreign));
  if (manual_section(text) != manual)
    return Error(Code::invalid, "the administrator's section differs in the written file");
  const std::vector<PartitionDefinition> wanted = together(definitions, foreign);
  const std::vector<PartitionDefinition> read = TRY(read_partitions_conf(text, options));
  if (read != wanted) return Error(Code::invalid, first_difference(wanted, read));
  return ok();
}

Result<std::string> render(const std::vector<PartitionDefinition>& definitions,
                           std::string_view manual, const OpenSmOptions& options) {
  for (const PartitionDefinition& definition : definitions) TRY(check(definition));
  std::string text(kHeader);
  for (const PartitionDefinition* definition : in_order(definitions))
    text += "\n" + text_of(*definition);
  text += "\n";
  text += kMarker;
  text += manual;
  TRY(verify_text(text, definitions, manual, options));
  return text;
}

}  // namespace ibpod::fabric
