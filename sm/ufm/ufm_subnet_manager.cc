#include "sm/ufm/ufm_subnet_manager.h"

#include "lib/base/jitter.h"
#include "lib/base/join.h"
#include "sm/ufm/other_partitions.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace ibpod::sm::ufm {
namespace {

using Clock = Deadline::Clock;

constexpr const char* kGroupsFolder = "mapping";  // in that of the members

Status check_taken(const DesiredPartition& desired, ib::PKey pkey,
                   const std::vector<ib::Guid>& members) {
  std::vector<ib::Guid> others = members;
  std::erase_if(others, [&](ib::Guid guid) { return desired.members.contains(guid); });
  if (others.empty()) return ok();
  return Error(Code::exists, "P_Key " + pkey.text() +
                                 " is in use in UFM with ports that are not members of this "
                                 "partition (" +
                                 join_first(4, others, &ib::Guid::text) +
                                 "): remove them in UFM, or choose another P_Key");
}

}  // namespace

Result<std::unique_ptr<UfmSubnetManager>> UfmSubnetManager::start(EngineSettings settings,
                                                                  std::unique_ptr<UfmApi> api,
                                                                  OnChange changed) {
  WrittenMembers members = TRY(WrittenMembers::open(settings.folder));
  WrittenGroups groups = TRY(WrittenGroups::open(settings.folder / kGroupsFolder));
  std::unique_ptr<UfmSubnetManager> engine(
      new UfmSubnetManager(std::move(settings), std::move(api), std::move(changed),
                           {std::move(members), std::move(groups)}));
  engine->thread_ =
      std::jthread([raw = engine.get()](const std::stop_token& stop) { raw->run(stop); });
  return engine;
}

UfmSubnetManager::UfmSubnetManager(EngineSettings settings, std::unique_ptr<UfmApi> api,
                                   OnChange changed, Written written)
    : settings_(std::move(settings)),
      on_change_(std::move(changed)),
      api_(std::move(api)),
      reconciler_({*api_, std::move(written.members), random_number()}, settings_),
      mapping_({settings_.map_vfs, settings_.read_interval}, std::move(written.groups),
               random_number()) {}

UfmSubnetManager::~UfmSubnetManager() {
  thread_.request_stop();
  api_->cancel();
}

void UfmSubnetManager::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    adopt_newest();
    const Reconciler::Time begun = Clock::now();
    // In turns: neither members nor groups wait for all of the others.
    bool more = reconciler_.tick(Clock::now());
    more = run_mapping() || more;
    more = more || run_preflight();
    publish();
    if (!more) wait(stop, begun);
  }
}

void UfmSubnetManager::adopt_newest() {
  Wanted newest;
  {
    const std::lock_guard lock(mutex_);
    newest = wanted_;
  }
  if (newest.vf_change != adopted_.vf_change) mapping_.want(newest.vf_ports);
  if (newest.version != adopted_.version)
    reconciler_.want(newest.version, *newest.partitions, Clock::now());
  adopted_ = {newest.version, newest.vf_change};
}

bool UfmSubnetManager::is_serving() const {
  return reconciler_.status(Clock::now()).health == engine::Health::serving;
}

// A UFM that does not answer is asked by the reconciler alone.
bool UfmSubnetManager::run_mapping() {
  return mapping_.is_active() && is_serving() && mapping_.tick(*api_, Clock::now());
}

bool UfmSubnetManager::run_preflight() {
  const Reconciler::Time now = Clock::now();
  return preflight_.due() <= now && is_serving() && preflight_.tick(*api_, now);
}

// An alarm that has come since `begun` ends the wait at once.
void UfmSubnetManager::wait(const std::stop_token& stop, Reconciler::Time begun) {
  const auto is_due = [this] {
    return wanted_.version != adopted_.version || wanted_.vf_change != adopted_.vf_change;
  };
  std::optional<Reconciler::Time> alarm = reconciler_.alarm(begun);
  if (alarm && preflight_.due() > begun) alarm = std::min(*alarm, preflight_.due());
  if (const auto due = mapping_.alarm(begun); alarm && due) alarm = std::min(*alarm, *due);
  std::unique_lock lock(mutex_);
  if (alarm)
    wake_.wait_until(lock, stop, *alarm, is_due);
  else
    wake_.wait(lock, stop, is_due);
}

// Others than ours change only with a reading of all partitions.
UfmSubnetManager::Published UfmSubnetManager::present() const {
  const PartitionStates& states = reconciler_.states();
  Published now;
  now.status = reconciler_.status(Clock::now());
  const std::vector<engine::EngineFinding>& site = preflight_.findings();
  now.status.findings.insert(now.status.findings.end(), site.begin(), site.end());
  const std::vector<engine::EngineFinding>& vfs = mapping_.findings();
  now.status.findings.insert(now.status.findings.end(), vfs.begin(), vfs.end());
  now.faults = states.port_faults();
  now.partition_faults = states.partition_faults();
  now.taken = states.taken();
  now.counts = reconciler_.counts();
  now.counts.confined_vfs = mapping_.confined();
  now.counts.unconfined_vfs = mapping_.unconfined();
  now.others = published_.others;
  if (now.counts.scans == published_.counts.scans) return now;
  auto others = other_partitions(states.shown().all(), settings_.pkeys);
  if (others != *now.others)
    now.others =
        std::make_shared<const std::vector<fabric::PartitionDefinition>>(std::move(others));
  return now;
}

// Only this thread changes `published_`.
void UfmSubnetManager::publish() {
  Published now = present();
  {
    const std::lock_guard lock(mutex_);
    const bool is_same = now.status == published_.status && now.faults == published_.faults &&
                         now.partition_faults == published_.partition_faults &&
                         now.others == published_.others;
    published_ = std::move(now);
    if (is_same) return;
  }
  on_change_();
}

void UfmSubnetManager::apply(uint64_t version, engine::Partitions partitions) {
  {
    const std::lock_guard lock(mutex_);
    if (version <= wanted_.version) return;
    wanted_.version = version;
    wanted_.partitions = std::move(partitions);
  }
  wake_.notify_all();
}

void UfmSubnetManager::set_vf_ports(std::vector<engine::VfPort> ports) {
  {
    const std::lock_guard lock(mutex_);
    ++wanted_.vf_change;
    wanted_.vf_ports = std::move(ports);
  }
  wake_.notify_all();
}

engine::EngineStatus UfmSubnetManager::status() const {
  const std::lock_guard lock(mutex_);
  return published_.status;
}

std::vector<engine::PortFault> UfmSubnetManager::port_faults() const {
  const std::lock_guard lock(mutex_);
  return published_.faults;
}

std::vector<engine::PartitionFault> UfmSubnetManager::partition_faults() const {
  const std::lock_guard lock(mutex_);
  return published_.partition_faults;
}

std::vector<fabric::PartitionDefinition> UfmSubnetManager::manual_partitions() const {
  const std::lock_guard lock(mutex_);
  return *published_.others;
}

std::vector<fabric::PartitionDefinition> UfmSubnetManager::as_written(
    std::vector<fabric::PartitionDefinition> definitions) const {
  for (fabric::PartitionDefinition& definition : definitions)
    if (definition.pkey == fabric::kDefaultPKey)
      definition.members.push_back({fabric::PortGroup::all_switches, fabric::Membership::full});
  return definitions;
}

UfmCounts UfmSubnetManager::counts() const {
  const std::lock_guard lock(mutex_);
  return published_.counts;
}

Status UfmSubnetManager::check(const std::vector<fabric::PartitionDefinition>& definitions) const {
  const DesiredPartitions desired = TRY(desired_of(definitions, settings_.pkeys));
  const std::lock_guard lock(mutex_);
  for (const auto& [pkey, members] : published_.taken)
    if (const auto found = desired.find(pkey); found != desired.end())
      TRY(check_taken(found->second, pkey, members));
  return ok();
}

}  // namespace ibpod::sm::ufm
