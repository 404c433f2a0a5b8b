#include "device-plugin/preferred_allocation.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace ibpod::device_plugin {
namespace {

using Offers = std::vector<const Offer*>;
// What two devices have in common.
using Key = std::string (*)(const Device&);

std::string pf_of(const Device& device) { return device.pf.value_or(device.address).text(); }
std::string root_of(const Device& device) { return device.pcie_root; }
std::string numa_of(const Device& device) {
  return device.numa ? std::to_string(*device.numa) : "";
}

std::vector<Key> keys_of(Policy policy) {
  if (policy == Policy::numa) return {numa_of, root_of, pf_of};
  return {pf_of};
}

Result<Offers> find(const std::vector<Offer>& offers, const std::vector<std::string>& ids,
                    const char* list) {
  std::set<std::string> missing(ids.begin(), ids.end());
  Offers found;
  for (const Offer& offer : offers) {
    if (missing.erase(offer.id) > 0) found.push_back(&offer);
  }
  if (missing.empty()) return found;
  return Error(Code::invalid, std::string(list) + ": the pool has no device " + *missing.begin());
}

size_t count(const Offers& offers, Key key, const std::string& value) {
  return static_cast<size_t>(std::count_if(
      offers.begin(), offers.end(), [&](const Offer* o) { return key(o->device) == value; }));
}

std::map<std::string, Offers> grouped(const Offers& offers, Key key) {
  std::map<std::string, Offers> groups;
  for (const Offer* offer : offers) groups[key(offer->device)].push_back(offer);
  return groups;
}

// Where to go on: beside what is chosen already; else in the group that is nearly used up but has
// enough; else in the one with the most. A group without a name (unknown) comes last.
std::string best_group(const std::map<std::string, Offers>& groups, const Offers& chosen, Key key,
                       size_t wanted) {
  const auto worth = [&](const std::string& name, const Offers& free) {
    const bool enough = free.size() >= wanted;
    return std::tuple(count(chosen, key, name), !name.empty(), enough,
                      enough ? SIZE_MAX - free.size() : free.size());
  };
  auto best = groups.begin();
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (worth(group->first, group->second) > worth(best->first, best->second)) best = group;
  }
  return best->first;
}

// Chooses `wanted` of `free`: group by group by the first key, and within a group by the next.
void fill(Offers free, const std::vector<Key>& keys, size_t depth, size_t wanted, Offers& chosen) {
  if (depth == keys.size()) {
    chosen.insert(chosen.end(), free.begin(), free.begin() + static_cast<ptrdiff_t>(wanted));
    return;
  }
  std::map<std::string, Offers> groups = grouped(free, keys[depth]);
  while (wanted > 0) {
    const std::string name = best_group(groups, chosen, keys[depth], wanted);
    const size_t from_here = std::min(wanted, groups[name].size());
    fill(groups[name], keys, depth + 1, from_here, chosen);
    wanted -= from_here;
    groups.erase(name);
  }
}

// One at a time, of the PF that has the fewest chosen, then of the one with the most left.
void spread(const Offers& free, size_t wanted, Offers& chosen) {
  std::map<std::string, Offers> groups = grouped(free, pf_of);
  for (; wanted > 0; --wanted) {
    const auto worth = [&](const auto& group) {
      return std::tuple(group.second.empty(), count(chosen, pf_of, group.first),
                        SIZE_MAX - group.second.size());
    };
    const auto best =
        std::min_element(groups.begin(), groups.end(),
                         [&](const auto& a, const auto& b) { return worth(a) < worth(b); });
    chosen.push_back(best->second.front());
    best->second.erase(best->second.begin());
  }
}

Offers without(const Offers& offers, const Offers& taken) {
  Offers rest;
  for (const Offer* offer : offers) {
    if (std::find(taken.begin(), taken.end(), offer) == taken.end()) rest.push_back(offer);
  }
  return rest;
}

}  // namespace

Result<std::vector<std::string>> preferred(const std::vector<Offer>& offers, Policy policy,
                                           const Wish& wish) {
  const Offers available = TRY(find(offers, wish.available, "available"));
  Offers chosen = TRY(find(offers, wish.must_include, "must_include"));
  const Offers free = without(available, chosen);
  if (chosen.size() > wish.size || chosen.size() + free.size() < wish.size)
    return Error(Code::invalid, std::to_string(wish.size) + " devices are asked for, " +
                                    std::to_string(chosen.size()) + " must be among them, and " +
                                    std::to_string(free.size()) + " others are available");
  const size_t wanted = wish.size - chosen.size();
  if (policy == Policy::spread)
    spread(free, wanted, chosen);
  else
    fill(free, keys_of(policy), 0, wanted, chosen);
  std::vector<std::string> ids;
  for (const Offer* offer : chosen) ids.push_back(offer->id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace ibpod::device_plugin
