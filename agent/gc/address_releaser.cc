#include "agent/gc/address_releaser.h"

#include <algorithm>

namespace ibpod::agent::gc {
namespace {

using node::AddressReleaseName;

// Its end is not over: that is the business of the sweep of records, and asks IPAM as well.
bool is_recorded(const GcDeps& deps, const node::Record& record) {
  const Result<node::Record> now = deps.records.read(node::name_of(record));
  if (!now) return now.error().code() != Code::not_found;
  return now->attempt == record.attempt && now->stage != node::Stage::pkey_pending;
}

}  // namespace

void AddressReleaser::reset_pauses() {
  for (auto& [name, wait] : retries_) wait = {{}, {}, std::move(wait.failure)};
}

std::vector<AddressReleaseName> AddressReleaser::by_due_time(std::vector<AddressReleaseName> names,
                                                             Time now) {
  std::erase_if(retries_, [&](const auto& entry) {
    return std::find(names.begin(), names.end(), entry.first) == names.end();
  });
  for (const AddressReleaseName& name : names)
    retries_.try_emplace(name, Retry{{}, now + kFirstPause});
  std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return retries_.at(a).not_before < retries_.at(b).not_before;
  });
  return names;
}

AddressRelease AddressReleaser::release(const GcDeps& deps, const AddressReleaseName& name) {
  AddressRelease owed{name};
  const node::AddressReleases& releases = deps.records.address_releases();
  const Result<node::Record> record = releases.read(name);
  const Status asked = !record ? Status(record.error())
                       : is_recorded(deps, *record)
                           ? Error(Code::busy, "its attachment has not ended yet")
                           : deps.plugins.del(*record);
  const Result<node::Record> left = releases.read(name);
  owed.released = !left && left.error().code() == Code::not_found;
  if (owed.released) return owed;
  owed.failure = asked ? "the plugin's DEL did not release it" : asked.error().text();
  return owed;
}

void AddressReleaser::run(const GcDeps& deps, Time now, Duration longest_pause, GcRun& gc_run) {
  Result<std::vector<AddressReleaseName>> listed = deps.records.address_releases().all();
  if (!listed) {
    gc_run.address_releases_failure = listed.error().text();
    return;
  }
  bool failed = false;
  for (const AddressReleaseName& name : by_due_time(std::move(listed).value(), now)) {
    Retry& wait = retries_.at(name);
    const bool due = wait.not_before <= now;
    if (due && !failed) {
      gc_run.address_releases.push_back(release(deps, name));
      if (gc_run.address_releases.back().released) continue;
      failed = true;
      wait.failure = gc_run.address_releases.back().failure;
      wait.pause =
          std::min(std::max(kFirstPause, 2 * wait.pause), std::max(kFirstPause, longest_pause));
      wait.not_before = now + wait.pause;
    } else {
      gc_run.address_releases.push_back({name, false, wait.failure});
    }
    const auto left = std::chrono::ceil<Duration>(wait.not_before - now);
    gc_run.request_rerun(std::max(left, kMinRetryDelay));
  }
}

}  // namespace ibpod::agent::gc
