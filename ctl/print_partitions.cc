#include "ctl/print_partitions.h"

#include "ctl/table.h"
#include "ctl/words.h"

namespace ibpod::ctl {
namespace {

using json::Value;

std::string bytes(fabric::Mtu mtu) { return std::to_string(128 << static_cast<int>(mtu)); }

// What is not as it is with most.
std::string options_of(const fabric::Tenancy& tenancy) {
  std::vector<std::string> options;
  if (tenancy.index0) options.push_back("index0");
  if (tenancy.ipoib) options.push_back(*tenancy.ipoib ? "ipoib" : "no ipoib");
  if (tenancy.mtu) options.push_back("mtu=" + bytes(*tenancy.mtu));
  if (tenancy.rate) options.push_back("rate=" + gbps(*tenancy.rate));
  if (tenancy.sl) options.push_back("sl=" + std::to_string(*tenancy.sl));
  if (tenancy.proof != fabric::Proof::node)
    options.push_back("proof=" + std::string(name(tenancy.proof)));
  if (!tenancy.nodes.empty()) options.push_back("nodes=" + joined(tenancy.nodes));
  return joined(options);
}

std::string pkey_of(const fabric::Tenancy& tenancy) {
  return tenancy.pkey ? tenancy.pkey->text() : "";
}

Row row_of(const fabric::TenancyStatus& partition) {
  const fabric::Tenancy& tenancy = partition.tenancy;
  return {tenancy.name,
          pkey_of(tenancy),
          std::string(name(tenancy.membership)),
          std::string(name(partition.state)),
          std::to_string(partition.bindings),
          std::to_string(tenancy.members.size()),
          joined(tenancy.allowed),
          options_of(tenancy),
          partition.declared ? "file" : "request",
          text_of(partition.standing)};
}

Value members_of(const fabric::Tenancy& tenancy) {
  Value members = Value::array();
  for (const fabric::StaticMember& member : tenancy.members) {
    members.push(Value::object()
                     .set("guid", member.guid.text())
                     .set("membership", name(member.membership))
                     .set("comment", member.comment));
  }
  return members;
}

}  // namespace

std::string as_table(const std::vector<fabric::TenancyStatus>& partitions) {
  std::vector<Row> rows;
  for (const fabric::TenancyStatus& partition : partitions) rows.push_back(row_of(partition));
  return table({"NAME", "P_KEY", "MEMBERSHIP", "STATE", "BINDINGS", "MEMBERS", "ALLOWED", "OPTIONS",
                "BY", "REASON"},
               rows);
}

std::string as_text(const fabric::TenancyStatus& partition) {
  std::string text = as_table(std::vector{partition});
  if (partition.tenancy.members.empty()) return text;
  std::vector<Row> rows;
  for (const fabric::StaticMember& member : partition.tenancy.members)
    rows.push_back({member.guid.text(), std::string(name(member.membership)), member.comment});
  return text + "\n" + table({"MEMBER", "MEMBERSHIP", "COMMENT"}, rows);
}

Value as_json(const fabric::TenancyStatus& partition) {
  const fabric::Tenancy& tenancy = partition.tenancy;
  Value value = Value::object();
  value.set("name", tenancy.name).set("pkey", pkey_of(tenancy));
  value.set("membership", name(tenancy.membership));
  value.set("index0", tenancy.index0);
  if (tenancy.ipoib) value.set("ipoib", *tenancy.ipoib);
  if (tenancy.mtu) value.set("mtu", int{128 << static_cast<int>(*tenancy.mtu)});
  if (tenancy.rate) value.set("rate", gbps(*tenancy.rate));
  if (tenancy.sl) value.set("sl", int{*tenancy.sl});
  value.set("allowed", strings(tenancy.allowed)).set("nodes", strings(tenancy.nodes));
  value.set("proof", name(tenancy.proof));
  value.set("members", members_of(tenancy)).set("declared", partition.declared);
  value.set("state", name(partition.state)).set("reason", name(partition.standing.reason));
  value.set("text", partition.standing.text);
  return value.set("bindings", count(partition.bindings));
}

Value as_json(const std::vector<fabric::TenancyStatus>& partitions) {
  return list_of(partitions, [](const auto& one) { return as_json(one); });
}

}  // namespace ibpod::ctl
