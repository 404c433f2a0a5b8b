#include "ctl/partition_options.h"

#include "lib/fabricapi/fields.h"

#include <algorithm>
#include <charconv>

namespace ibpod::ctl {
namespace {

using fabric::Tenancy;
using fabricapi::wrong;

constexpr std::string_view kAsTheFabric = "fabric";

std::optional<uint64_t> number(const std::string& text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

Status take_ipoib(Tenancy& tenancy, const std::string& text) {
  if (text.empty()) return ok();
  tenancy.ipoib.reset();
  if (text == kAsTheFabric) return ok();
  if (text != "yes" && text != "no") return wrong("--ipoib", text, "yes, no or fabric");
  tenancy.ipoib = text == "yes";
  return ok();
}

Status take_mtu(Tenancy& tenancy, const std::string& text) {
  if (text.empty()) return ok();
  tenancy.mtu.reset();
  if (text == kAsTheFabric) return ok();
  for (uint64_t code = 1; const auto mtu = fabric::mtu_of(code); ++code)
    if (number(text) == 128U << code) return tenancy.mtu = mtu, ok();
  return wrong("--mtu", text, "256, 512, 1024, 2048, 4096 or fabric");
}

Status take_rate(Tenancy& tenancy, const std::string& text) {
  if (text.empty()) return ok();
  tenancy.rate.reset();
  if (text == kAsTheFabric) return ok();
  std::string known;
  for (auto code = static_cast<uint64_t>(fabric::kFirstRate);
       const auto rate = fabric::rate_of(code); ++code) {
    if (gbps(*rate) == text) return tenancy.rate = rate, ok();
    known += gbps(*rate) + ", ";
  }
  return wrong("--rate", text, known + "all in Gb/s, or fabric");
}

Status take_sl(Tenancy& tenancy, const std::string& text) {
  if (text.empty()) return ok();
  tenancy.sl.reset();
  if (text == kAsTheFabric) return ok();
  const std::optional<uint64_t> sl = number(text);
  if (!sl || *sl > fabric::kMostSl) return wrong("--sl", text, "0 to 15, or fabric");
  tenancy.sl = static_cast<uint8_t>(*sl);
  return ok();
}

Status take_proof(Tenancy& tenancy, const std::string& text) {
  if (text.empty()) return ok();
  const std::optional<fabric::Proof> proof = fabric::parse_proof(text);
  if (!proof) return wrong("--proof", text, "node, port or none");
  tenancy.proof = *proof;
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
Status take_nodes(Tenancy& tenancy, const TenancyOptions& options) {
  const bool limited = !tenancy.nodes.empty();
  take_names(tenancy.nodes, options.add_nodes, options.remove_nodes);
  if (!limited || !tenancy.nodes.empty()) return ok();
  return wrong("--remove-node", options.remove_nodes.back(),
               "that one is left, as none would be every node; --node '*' says that");
}

}  // namespace

Result<Tenancy> changed(Tenancy tenancy, const TenancyOptions& options) {
  if (!options.pkey.empty())
    tenancy.pkey = TRY(ib::PKey::parse_tenant(options.pkey).during("--pkey"));
  if (!options.membership.empty())
    tenancy.membership = TRY(fabricapi::read_membership("--membership", options.membership));
  tenancy.index0 = options.index0.value_or(tenancy.index0);
  TRY(take_ipoib(tenancy, options.ipoib));
  TRY(take_mtu(tenancy, options.mtu));
  TRY(take_rate(tenancy, options.rate));
  TRY(take_sl(tenancy, options.sl));
  TRY(take_proof(tenancy, options.proof));
  take_names(tenancy.allowed, options.allow, options.disallow);
  TRY(take_nodes(tenancy, options));
  TRY(check(tenancy));
  return tenancy;
}

Result<Tenancy> with_member(Tenancy tenancy, const fabric::StaticMember& member) {
  std::erase_if(tenancy.members,
                [&](const fabric::StaticMember& one) { return one.guid == member.guid; });
  tenancy.members.push_back(member);
  TRY(check(tenancy));
  return tenancy;
}

Result<Tenancy> without_member(Tenancy tenancy, ib::Guid guid) {
  const size_t gone = std::erase_if(
      tenancy.members, [&](const fabric::StaticMember& one) { return one.guid == guid; });
  if (gone > 0) return tenancy;
  return Error(Code::not_found, guid.text() + " is no static member of " + tenancy.name +
                                    "; ports of pods leave with their bindings");
}

}  // namespace ibpod::ctl
