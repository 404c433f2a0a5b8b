#include "ctl/print_partitions.h"

#include "ctl/table.h"
#include "ctl/words.h"
#include "lib/base/join.h"

namespace ibpod::ctl {
namespace {

using json::Value;

std::string bytes(fabric::Mtu mtu) { return std::to_string(128 << static_cast<int>(mtu)); }

// The properties that differ from the usual ones.
std::string options_of(const fabric::Partition& partition) {
  std::vector<std::string> options;
  if (partition.index0) options.push_back("index0");
  if (partition.ipoib) options.push_back(*partition.ipoib ? "ipoib" : "no ipoib");
  if (partition.mtu) options.push_back("mtu=" + bytes(*partition.mtu));
  if (partition.rate) options.push_back("rate=" + gbps(*partition.rate));
  if (partition.sl) options.push_back("sl=" + std::to_string(*partition.sl));
  if (partition.proof != fabric::Proof::node)
    options.push_back("proof=" + std::string(name(partition.proof)));
  if (!partition.nodes.empty()) options.push_back("nodes=" + join(partition.nodes, ","));
  return join(options, ",");
}

std::string pkey_of(const fabric::Partition& partition) {
  return partition.pkey ? partition.pkey->text() : "";
}

Row row_of(const fabric::PartitionStatus& status) {
  const fabric::Partition& partition = status.spec;
  return {partition.name,
          pkey_of(partition),
          std::string(name(partition.membership)),
          std::string(name(status.state)),
          std::to_string(status.bindings),
          std::to_string(partition.members.size()),
          join(partition.allowed, ","),
          options_of(partition),
          status.declared ? "file" : "request",
          text_of(status.condition)};
}

Value members_of(const fabric::Partition& partition) {
  Value members = Value::array();
  for (const fabric::StaticMember& member : partition.members) {
    members.push(Value::object()
                     .set("guid", member.guid.text())
                     .set("membership", name(member.membership))
                     .set("comment", member.comment));
  }
  return members;
}

}  // namespace

std::string as_table(const std::vector<fabric::PartitionStatus>& partitions) {
  std::vector<Row> rows;
  for (const fabric::PartitionStatus& status : partitions) rows.push_back(row_of(status));
  return table({"NAME", "P_KEY", "MEMBERSHIP", "STATE", "BINDINGS", "MEMBERS", "ALLOWED", "OPTIONS",
                "BY", "REASON"},
               rows);
}

std::string as_text(const fabric::PartitionStatus& status) {
  std::string text = as_table(std::vector{status});
  if (status.spec.members.empty()) return text;
  std::vector<Row> rows;
  for (const fabric::StaticMember& member : status.spec.members)
    rows.push_back({member.guid.text(), std::string(name(member.membership)), member.comment});
  return text + "\n" + table({"MEMBER", "MEMBERSHIP", "COMMENT"}, rows);
}

Value as_json(const fabric::PartitionStatus& status) {
  const fabric::Partition& partition = status.spec;
  Value value = Value::object();
  value.set("name", partition.name).set("pkey", pkey_of(partition));
  value.set("membership", name(partition.membership));
  value.set("index0", partition.index0);
  if (partition.ipoib) value.set("ipoib", *partition.ipoib);
  if (partition.mtu) value.set("mtu", int{128 << static_cast<int>(*partition.mtu)});
  if (partition.rate) value.set("rate", gbps(*partition.rate));
  if (partition.sl) value.set("sl", int{*partition.sl});
  value.set("allowed", strings(partition.allowed)).set("nodes", strings(partition.nodes));
  value.set("proof", name(partition.proof));
  value.set("members", members_of(partition)).set("declared", status.declared);
  value.set("state", name(status.state)).set("reason", name(status.condition.reason));
  value.set("text", status.condition.text);
  return value.set("bindings", count(status.bindings));
}

Value as_json(const std::vector<fabric::PartitionStatus>& partitions) {
  return list_of(partitions, [](const auto& one) { return as_json(one); });
}

}  // namespace ibpod::ctl
