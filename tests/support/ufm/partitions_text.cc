#include "tests/support/ufm/partitions_text.h"

#include <array>
#include <cctype>
#include <cstdio>

namespace ibpod::fake_ufm {
namespace {

std::string hex(uint64_t value, int digits) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%0*llx", digits,
                static_cast<unsigned long long>(value));
  return text.data();
}

// A name may have come from a client, and must not end its definition.
std::string safe(const std::string& name) {
  std::string text;
  for (const char letter : name)
    text += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  return text;
}

std::string member_lines(const Partition& partition, std::optional<bool> index0) {
  std::string lines;
  for (const auto& [guid, member] : partition.members)
    if (!index0 || member.index0 == *index0)
      lines.append(lines.empty() ? "\n  " : ",\n  ")
          .append(hex(guid.value(), 16))
          .append("=")
          .append(ib::name(member.membership));
  return lines;
}

// indx0 is a flag of a definition: members with it and members without it have one each.
std::string definition(ib::PKey pkey, const Partition& partition, bool index0) {
  const std::string members = member_lines(partition, index0);
  if (members.empty()) return "";
  return safe(partition.name) + (index0 ? "_index0=" : "=") + hex(pkey.value(), 4) +
         (partition.ip_over_ib ? ", ipoib" : "") + (index0 ? ", indx0" : "") + " :" + members +
         ";\n";
}

}  // namespace

std::string partitions_text(const Partitions& partitions, ib::Membership default_membership) {
  const std::string word(ib::name(default_membership));
  std::string text = "management=0x7fff, ipoib, defmember=" + word + " : ALL=" + word +
                     ", ALL_SWITCHES=full, SELF=full";
  const auto management = partitions.find(kManagement);
  if (management != partitions.end() && !management->second.members.empty())
    text += "," + member_lines(management->second, std::nullopt);
  text += ";\n";
  for (const auto& [pkey, partition] : partitions)
    if (pkey != kManagement)
      text += definition(pkey, partition, false) + definition(pkey, partition, true);
  return text;
}

}  // namespace ibpod::fake_ufm
