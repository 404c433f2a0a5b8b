#include "lib/fabric/partitions_conf_writer.h"

#include "lib/fabric/partitions_conf.h"
#include "lib/ib/hex.h"

#include <algorithm>
#include <set>
#include <span>

#include <arpa/inet.h>

namespace ibpod::fabric {
namespace {

template <typename Number>
std::string number(Number value) {
  return std::to_string(static_cast<uint64_t>(value));
}

// Each with a comma before it. A zero Q_Key, TClass or FlowLabel is told only to groups, which
// would have the partition's otherwise.
std::string flags_of(const GroupFlags& flags, bool with_zeros) {
  std::string text =
      ", mtu=" + number(flags.mtu) + ", rate=" + number(flags.rate) + ", sl=" + number(flags.sl);
  for (unsigned scope = 1; scope <= kMostScope; ++scope) {
    if ((flags.scopes >> scope & 1U) != 0) text += ", scope=" + number(scope);
  }
  if (with_zeros || flags.q_key != 0) text += ", Q_Key=0x" + ib::hex(flags.q_key, 8);
  if (with_zeros || flags.tclass != 0) text += ", TClass=" + number(flags.tclass);
  if (with_zeros || flags.flow_label != 0) text += ", FlowLabel=0x" + ib::hex(flags.flow_label, 5);
  return text;
}

std::string head_of(const PartitionDefinition& definition, std::string_view index0) {
  std::string text = definition.name + "=" + definition.pkey.text() + std::string(index0);
  if (definition.ipoib) text += ", ipoib";
  text += flags_of(definition.group, false);
  return text + ", defmember=" + std::string(name(definition.default_membership)) + " :\n";
}

std::string line_of(const MulticastGroup& group) {
  char gid[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET6, group.mgid.data(), gid, sizeof gid);
  return "\tmgid=" + std::string(gid) + flags_of(group.flags, true) + "\n";
}

std::string line_of(const Member& member) {
  return "\t" + member.port.text() + "=" + std::string(name(member.membership));
}

std::string lines_of(std::span<const Member> members) {
  std::string text;
  for (const Member& member : members)
    text += line_of(member) + (&member == &members.back() ? ";\n" : ",\n");
  // OpenSM drops a partition without members; NONE keeps its definition in the file.
  return members.empty() ? "\tNONE;\n" : text;
}

}  // namespace

std::string text_of(const PartitionDefinition& definition) {
  const std::span members(definition.members);
  const auto keeper = std::find_if(members.begin(), members.end(),
                                   [](const Member& member) { return member.skip_index0; });
  const auto others = static_cast<size_t>(keeper - members.begin());
  std::string text = head_of(definition, definition.index0 ? ", indx0" : "");
  for (const MulticastGroup& group : definition.groups) text += line_of(group);
  text += lines_of(members.first(others));
  // indx0 is for the ports that its own definition names (osm_prtn.c, osm_prtn_add_port).
  if (keeper != members.end()) text += head_of(definition, "") + lines_of(members.subspan(others));
  return text;
}

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
