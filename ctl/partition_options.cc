#include "ctl/partition_options.h"

#include "lib/fabricapi/fields.h"

#include <algorithm>
#include <charconv>

namespace ibpod::ctl {
namespace {

using fabric::Partition;
using fabricapi::wrong;

constexpr std::string_view kAsFabric = "fabric";

std::optional<uint64_t> number(const std::string& text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

Status take_ipoib(Partition& partition, const std::string& text) {
  if (text.empty()) return ok();
  partition.ipoib.reset();
  if (text == kAsFabric) return ok();
  if (text != "yes" && text != "no") return wrong("--ipoib", text, "yes, no or fabric");
  partition.ipoib = text == "yes";
  return ok();
}

Status take_mtu(Partition& partition, const std::string& text) {
  if (text.empty()) return ok();
  partition.mtu.reset();
  if (text == kAsFabric) return ok();
  for (uint64_t code = 1; const auto mtu = fabric::mtu_of(code); ++code)
    if (number(text) == 128U << code) return partition.mtu = mtu, ok();
  return wrong("--mtu", text, "256, 512, 1024, 2048, 4096 or fabric");
}

Status take_rate(Partition& partition, const std::string& text) {
  if (text.empty()) return ok();
  partition.rate.reset();
  if (text == kAsFabric) return ok();
  std::string known;
  for (auto code = static_cast<uint64_t>(fabric::kFirstRate);
       const auto rate = fabric::rate_of(code); ++code) {
    if (gbps(*rate) == text) return partition.rate = rate, ok();
    known += gbps(*rate) + ", ";
  }
  return wrong("--rate", text, known + "all in Gb/s, or fabric");
}

Status take_sl(Partition& partition, const std::string& text) {
  if (text.empty()) return ok();
  partition.sl.reset();
  if (text == kAsFabric) return ok();
  const std::optional<uint64_t> sl = number(text);
  if (!sl || *sl > fabric::kMostSl) return wrong("--sl", text, "0 to 15, or fabric");
  partition.sl = static_cast<uint8_t>(*sl);
  return ok();
}

Status take_proof(Partition& partition, const std::string& text) {
  if (text.empty()) return ok();
  const std::optional<fabric::Proof> proof = fabric::parse_proof(text);
  if (!proof) return wrong("--proof", text, "node, port or none");
  partition.proof = *proof;
  return ok();
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void take_names(std::vector<std::string>& names, const std::vector<std::string>& added,
                const std::vector<std::string>& removed) {
  for (const std::string& name : added)
    if (!has(names, name)) names.push_back(name);
  std::erase_if(names, [&](const std::string& name) { return has(removed, name); });
}

// Without any it is open to every node: that is said, and does not happen by taking one away.
Status take_nodes(Partition& partition, const PartitionOptions& options) {
  const bool limited = !partition.nodes.empty();
  take_names(partition.nodes, options.add_nodes, options.remove_nodes);
  if (!limited || !partition.nodes.empty()) return ok();
  return wrong("--remove-node", options.remove_nodes.back(),
               "at least one other node (use --node '*/*' for every node)");
}

}  // namespace

Result<Partition> changed(Partition partition, const PartitionOptions& options) {
  if (!options.pkey.empty())
    partition.pkey = TRY(ib::PKey::parse_tenant(options.pkey).during("--pkey"));
  if (!options.membership.empty())
    partition.membership = TRY(fabricapi::read_membership("--membership", options.membership));
  partition.index0 = options.index0.value_or(partition.index0);
  TRY(take_ipoib(partition, options.ipoib));
  TRY(take_mtu(partition, options.mtu));
  TRY(take_rate(partition, options.rate));
  TRY(take_sl(partition, options.sl));
  TRY(take_proof(partition, options.proof));
  take_names(partition.allowed, options.allow, options.disallow);
  TRY(take_nodes(partition, options));
  TRY(check(partition));
  return partition;
}

Result<Partition> with_member(Partition partition, const fabric::StaticMember& member) {
  std::erase_if(partition.members,
                [&](const fabric::StaticMember& one) { return one.guid == member.guid; });
  partition.members.push_back(member);
  TRY(check(partition));
  return partition;
}

Result<Partition> without_member(Partition partition, ib::Guid guid) {
  const size_t gone = std::erase_if(
      partition.members, [&](const fabric::StaticMember& one) { return one.guid == guid; });
  if (gone > 0) return partition;
  return Error(Code::not_found, guid.text() + " is not a static member of " + partition.name +
                                    "; ports of pods leave with their bindings");
}

}  // namespace ibpod::ctl
