#include "sm/ufm/group_plan.h"

#include <algorithm>
#include <utility>

namespace ibpod::sm::ufm {
namespace {

bool is_ours(const GuidGroup& group, const WrittenGroups::All& written) {
  if (group.physical.size() != 1) return false;
  const auto found = written.find(group.physical.front());
  if (found == written.end()) return false;
  const WrittenPort& port = found->second;
  return (port.making || port.ids.contains(group.id)) &&
         std::all_of(group.virtual_guids.begin(), group.virtual_guids.end(),
                     [&](ib::Guid vf) { return port.vfs.contains(vf); });
}

bool has_lids(const GuidGroup& group) { return group.vport_lids.value_or(true); }

bool has_exactly(const GuidGroup& group, const std::set<ib::Guid>& vfs) {
  return has_lids(group) &&
         std::equal(group.virtual_guids.begin(), group.virtual_guids.end(), vfs.begin(), vfs.end());
}

}  // namespace

ShownGroups::ShownGroups(std::vector<GuidGroup> groups, const WrittenGroups::All& written)
    : groups_(std::move(groups)) {
  for (size_t place = 0; place < groups_.size(); ++place) {
    const GuidGroup& group = groups_[place];
    if (!is_ours(group, written)) {
      for (const auto* const guids : {&group.physical, &group.virtual_guids})
        for (const ib::Guid guid : *guids) foreign_.emplace(guid, place);
      continue;
    }
    const ib::Guid pf = group.physical.front();
    ours_[pf].push_back(place);
    for (const ib::Guid vf : group.virtual_guids) pfs_of_vf_[vf].insert(pf);
  }
}

std::vector<const GuidGroup*> ShownGroups::ours(ib::Guid pf) const {
  std::vector<const GuidGroup*> groups;
  const auto found = ours_.find(pf);
  if (found == ours_.end()) return groups;
  for (const size_t place : found->second) groups.push_back(&groups_[place]);
  return groups;
}

const GuidGroup* ShownGroups::foreign(ib::Guid pf, const std::set<ib::Guid>& vfs) const {
  if (foreign_.empty()) return nullptr;
  const auto group_with = [this](ib::Guid guid) {
    const auto found = foreign_.find(guid);
    return found == foreign_.end() ? nullptr : &groups_[found->second];
  };
  if (const GuidGroup* const group = group_with(pf)) return group;
  for (const ib::Guid vf : vfs)
    if (const GuidGroup* const group = group_with(vf)) return group;
  return nullptr;
}

bool ShownGroups::is_elsewhere(ib::Guid vf, ib::Guid pf) const {
  const auto found = pfs_of_vf_.find(vf);
  return found != pfs_of_vf_.end() && found->second.size() > found->second.count(pf);
}

bool ShownGroups::is_behind(ib::Guid vf, ib::Guid pf) const {
  const std::vector<const GuidGroup*> groups = ours(pf);
  return std::any_of(groups.begin(), groups.end(), [vf](const GuidGroup* group) {
    return has_lids(*group) &&
           std::binary_search(group->virtual_guids.begin(), group->virtual_guids.end(), vf);
  });
}

std::optional<GroupStep> plan_groups(ib::Guid pf, const std::set<ib::Guid>& desired,
                                     const ShownGroups& shown, const PortProgress& progress) {
  if (progress.made) return std::nullopt;
  if (!desired.empty() && shown.foreign(pf, desired) != nullptr) return std::nullopt;
  std::set<ib::Guid> target = desired;
  std::erase_if(target, [&](ib::Guid vf) { return shown.is_elsewhere(vf, pf); });
  std::vector<const GuidGroup*> old = shown.ours(pf);
  const auto kept = std::find_if(old.begin(), old.end(), [&](const GuidGroup* group) {
    return !progress.removed.contains(group->id) && has_exactly(*group, target);
  });
  const bool is_missing = !target.empty() && kept == old.end();
  if (!target.empty() && kept != old.end()) old.erase(kept);
  std::erase_if(old, [&](const GuidGroup* group) { return progress.removed.contains(group->id); });
  if (is_missing && (old.empty() || !progress.remove_first))
    return GroupStep{.kind = GroupStep::Kind::add, .pf = pf, .vfs = std::move(target)};
  if (old.empty()) return std::nullopt;
  return GroupStep{.kind = GroupStep::Kind::remove, .pf = pf, .id = old.front()->id};
}

}  // namespace ibpod::sm::ufm
