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

// The default partition first: whatever OpenSM makes of the rest, this it has read.
std::vector<const Partition*> in_order(const std::vector<Partition>& partitions) {
  std::vector<const Partition*> order;
  order.reserve(partitions.size());
  for (const Partition& partition : partitions) order.push_back(&partition);
  std::stable_partition(order.begin(), order.end(),
                        [](const Partition* partition) { return partition->pkey == kDefaultPKey; });
  return order;
}

Status check_distinct(const std::vector<Partition>& partitions,
                      const std::vector<Partition>& administrators) {
  std::set<ib::PKey> ours;
  for (const Partition& partition : partitions) {
    if (!ours.insert(partition.pkey).second)
      return Error(Code::invalid, "two partitions have the P_Key " + partition.pkey.text());
  }
  for (const Partition& foreign : administrators) {
    if (ours.contains(foreign.pkey)) {
      return Error(Code::exists, "the administrator's section names " + foreign.pkey.text() +
                                     " (\"" + foreign.name +
                                     "\"), which is ibpod's: OpenSM would merge the two");
    }
  }
  return ok();
}

// The partition that is not read as it was meant, for a message.
std::string first_difference(const std::vector<Partition>& wanted,
                             const std::vector<Partition>& read) {
  const auto [want, got] = std::mismatch(wanted.begin(), wanted.end(), read.begin(), read.end());
  if (want != wanted.end()) return want->pkey.text() + " does not stand there as it was meant";
  return got->pkey.text() + " stands there and was not meant";
}

std::vector<Partition> together(const std::vector<Partition>& partitions,
                                const std::vector<Partition>& administrators) {
  std::vector<Partition> all;
  for (const Partition* partition : in_order(partitions)) all.push_back(*partition);
  all.insert(all.end(), administrators.begin(), administrators.end());
  return all;
}

}  // namespace

std::optional<std::string_view> administrators_section(std::string_view text) {
  // The marker is a whole line: what stands before it ends with a newline.
  for (size_t at = 0; (at = text.find(kMarker, at)) != std::string_view::npos; ++at) {
    if (at == 0 || text[at - 1] == '\n') return text.substr(at + kMarker.size());
  }
  return std::nullopt;
}

Status judge(std::string_view text, const std::vector<Partition>& partitions,
             std::string_view administrators, const OpenSmOptions& options) {
  const std::vector<Partition> foreign =
      TRY(read_partitions(administrators, options).during("the administrator's section"));
  TRY(check_distinct(partitions, foreign));
  if (administrators_section(text) != administrators)
    return Error(Code::invalid, "the administrator's section does not stand there as it is");
  const std::vector<Partition> wanted = together(partitions, foreign);
  const std::vector<Partition> read = TRY(read_partitions_conf(text, options));
  if (read != wanted) return Error(Code::invalid, first_difference(wanted, read));
  return ok();
}

Result<std::string> render(const std::vector<Partition>& partitions,
                           std::string_view administrators, const OpenSmOptions& options) {
  for (const Partition& partition : partitions) TRY(check(partition));
  std::string text(kHeader);
  for (const Partition* partition : in_order(partitions)) text += "\n" + text_of(*partition);
  text += "\n";
  text += kMarker;
  text += administrators;
  TRY(judge(text, partitions, administrators, options));
  return text;
}

}  // namespace ibpod::fabric
