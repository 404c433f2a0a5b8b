#include "ctl/print_bindings.h"

#include "ctl/table.h"
#include "ctl/words.h"
#include "lib/base/join.h"

namespace ibpod::ctl {
namespace {

using json::Value;

// The service keeps it only in memory.
constexpr auto kNotSince = "not since ibpod-sm started";

// "blue:full,red:limited"
std::string listed(const std::vector<fabric::PartitionMembership>& shares) {
  return join(shares, ",", [](const fabric::PartitionMembership& membership) {
    return membership.partition + ":" + std::string(name(membership.membership));
  });
}

std::string proof_of(const fabric::Binding& binding) {
  return binding.proof == fabric::Proof::none ? "" : std::string(name(binding.proof));
}

Row row_of(const fabric::Binding& binding) {
  return {pod_text(binding.pod.name_space, binding.pod.name),
          binding.attachment.node,
          binding.attachment.interface,
          text_of(binding.guid),
          listed(binding.desired),
          std::string(name(binding.state)),
          proof_of(binding),
          std::string(name(binding.enforcement)),
          text_of(binding.condition),
          binding.attachment.container};
}

Value memberships_of(const std::vector<fabric::PartitionMembership>& shares) {
  return list_of(shares, [](const fabric::PartitionMembership& membership) {
    return Value::object()
        .set("partition", membership.partition)
        .set("membership", name(membership.membership));
  });
}

std::string last_sync(const v1::FabricNode& node) {
  return text_of(fabric::WallTime(std::chrono::milliseconds(node.last_sync())));
}

}  // namespace

std::string as_table(const std::vector<fabric::Binding>& bindings) {
  std::vector<Row> rows;
  for (const fabric::Binding& binding : bindings) rows.push_back(row_of(binding));
  return table({"POD", "NODE", "INTERFACE", "GUID", "PARTITIONS", "STATE", "SEEN BY", "ENFORCED BY",
                "REASON", "CONTAINER"},
               rows);
}

std::string as_text(const fabric::Binding& binding) {
  const std::vector<Row> rows{
      {"pod uid", binding.pod.uid},
      {"device", binding.device},
      {"PF", binding.pf},
      {"kind", std::string(name(binding.kind))},
      {"held now", listed(binding.applied)},
      {"generation", std::to_string(binding.generation)},
      {"asked", text_of(binding.asked)},
      {"changed", text_of(binding.changed)},
  };
  return as_table(std::vector{binding}) + "\n" + table({"WHAT", "VALUE"}, rows);
}

Value as_json(const fabric::Binding& binding) {
  Value value = Value::object();
  value.set("node", binding.attachment.node).set("containerID", binding.attachment.container);
  value.set("ifname", binding.attachment.interface).set("guid", binding.guid.text());
  value.set("kind", name(binding.kind)).set("pf", binding.pf).set("device", binding.device);
  value.set("pod", Value::object()
                       .set("namespace", binding.pod.name_space)
                       .set("name", binding.pod.name)
                       .set("uid", binding.pod.uid));
  value.set("partitions", memberships_of(binding.desired))
      .set("held", memberships_of(binding.applied));
  value.set("generation", count(binding.generation)).set("state", name(binding.state));
  value.set("reason", name(binding.condition.reason)).set("text", binding.condition.text);
  value.set("proof", name(binding.proof)).set("enforcement", name(binding.enforcement));
  value.set("asked", known(text_of(binding.asked)));
  return value.set("changed", known(text_of(binding.changed)));
}

std::string as_table(const v1::ListNodesResponse& nodes) {
  std::vector<Row> rows;
  for (const v1::FabricNode& node : nodes.nodes()) {
    rows.push_back({node.name(), node.has_last_sync() ? last_sync(node) : kNotSince,
                    std::to_string(node.bindings()), std::to_string(node.guids()),
                    node.forgetting() ? "is being forgotten" : ""});
  }
  return table({"NODE", "LAST CONTACT", "BINDINGS", "GUIDS", "REASON"}, rows);
}

Value as_json(const v1::FabricNode& node) {
  return Value::object()
      .set("name", node.name())
      .set("lastSync", node.has_last_sync() ? Value(last_sync(node)) : Value())
      .set("bindings", count(node.bindings()))
      .set("guids", count(node.guids()))
      .set("forgetting", node.forgetting());
}

Value as_json(const std::vector<fabric::Binding>& bindings) {
  return list_of(bindings, [](const auto& one) { return as_json(one); });
}

Value as_json(const v1::ListNodesResponse& nodes) {
  return list_of(nodes.nodes(), [](const auto& one) { return as_json(one); });
}

}  // namespace ibpod::ctl
