#include "agent/gc/address_releaser.h"

#include <algorithm>

namespace ibpod::agent {
namespace {

using node::AddressReleaseName;

// Its end is not over: that is the business of the sweep of records, and asks IPAM as well.
bool is_recorded(const World& world, const node::Record& record) {
  const Result<node::Record> now = world.records.read(node::name_of(record));
  if (!now) return now.error().code() != Code::not_found;
  return now->attempt == record.attempt && now->stage != node::Stage::keyed;
}

}  // namespace

void AddressSweep::end_pauses() {
  for (auto& [name, wait] : waits_) wait = {{}, {}, std::move(wait.failure)};
}

std::vector<AddressReleaseName> AddressSweep::in_turn(std::vector<AddressReleaseName> names,
                                                      Time now) {
  std::erase_if(waits_, [&](const auto& entry) {
    return std::find(names.begin(), names.end(), entry.first) == names.end();
  });
  for (const AddressReleaseName& name : names)
    waits_.try_emplace(name, Wait{{}, now + kFirstPause});
  std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return waits_.at(a).not_before < waits_.at(b).not_before;
  });
  return names;
}

OwedAddresses AddressSweep::attempt(const World& world, const AddressReleaseName& name) {
  OwedAddresses owed{name};
  const node::AddressReleases& releases = world.records.address_releases();
  const Result<node::Record> record = releases.read(name);
  const Status asked = !record ? Status(record.error())
                       : is_recorded(world, *record)
                           ? Error(Code::busy, "its attachment has not ended yet")
                           : world.plugins.del(*record);
  const Result<node::Record> left = releases.read(name);
  owed.released = !left && left.error().code() == Code::not_found;
  if (owed.released) return owed;
  owed.failure = asked ? "the plugin's DEL left it" : asked.error().text();
  return owed;
}

void AddressSweep::sweep(const World& world, Time now, Duration longest_pause, Pass& pass) {
  Result<std::vector<AddressReleaseName>> listed = world.records.address_releases().all();
  if (!listed) {
    pass.owed_failure = listed.error().text();
    return;
  }
  bool failed = false;
  for (const AddressReleaseName& name : in_turn(std::move(listed).value(), now)) {
    Wait& wait = waits_.at(name);
    const bool due = wait.not_before <= now;
    if (due && !failed) {
      pass.owed.push_back(attempt(world, name));
      if (pass.owed.back().released) continue;
      failed = true;
      wait.failure = pass.owed.back().failure;
      wait.pause =
          std::min(std::max(kFirstPause, 2 * wait.pause), std::max(kFirstPause, longest_pause));
      wait.not_before = now + wait.pause;
    } else {
      pass.owed.push_back({name, false, wait.failure});
    }
    const auto left = std::chrono::ceil<Duration>(wait.not_before - now);
    pass.come_again(std::max(left, kNext));
  }
}

}  // namespace ibpod::agent
