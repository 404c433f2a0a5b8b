#include "sm/state/policy.h"

namespace ibpod::sm::state {
namespace {

Status check_apart(std::map<ib::Guid, std::string>& owners, const std::string& node,
                   const std::set<ib::Guid>& guids) {
  for (const ib::Guid guid : guids) {
    TRY(ib::check_port_guid(guid).during("node " + node));
    const auto [owner, first] = owners.emplace(guid, node);
    if (first) continue;
    return Error(Code::invalid, "GUID " + guid.text() + " is listed twice: for node " +
                                    owner->second + " and for node " + node);
  }
  return ok();
}

}  // namespace

Status check(const Policy& policy) {
  std::map<ib::Guid, std::string> owners;
  for (const auto& [node, given] : policy.nodes) {
    TRY(check_apart(owners, node, given.guids));
    TRY(check_apart(owners, node, given.pfs));
  }
  if (policy.pfs_by_first_claim && !policy.clusters.others.empty())
    return Error(Code::invalid,
                 "pfsByFirstClaim: expected false with the cluster " +
                     *policy.clusters.others.begin() +
                     ", whose nodes could claim PFs of other nodes, got true: list the PFs of each "
                     "node in \"nodes\"");
  if (policy.lease > Duration(0)) return ok();
  return Error(Code::invalid, "leaseSeconds: expected more than 0");
}

}  // namespace ibpod::sm::state
