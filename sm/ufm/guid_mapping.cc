#include "sm/ufm/guid_mapping.h"

#include <algorithm>
#include <utility>

namespace ibpod::sm::ufm {
namespace {

using Use = Connection::Use;
using engine::VfPort;

// Under a flow of changes, UFM is read after so many calls.
constexpr size_t kMostCalls = 64;
// A call without an answer may have its effect so much later, and a failover may undo changes that
// are so old.
constexpr std::chrono::minutes kLate{10};
constexpr std::chrono::seconds kRefusedPause{60}, kIgnoredPause{30}, kRecordPause{5};
constexpr std::chrono::minutes kUnsupportedPause{10};

bool is_refusal(const Error& error) {
  return error.code() != Code::denied && error.code() != Code::unavailable &&
         error.code() != Code::busy && error.code() != Code::internal;
}

}  // namespace

GuidMapping::GuidMapping(Settings settings, WrittenGroups written, std::function<double()> random)
    : settings_(settings), written_(std::move(written)), connection_(std::move(random)) {}

void GuidMapping::want(const std::vector<VfPort>& ports) {
  desired_ = {.given = true};
  for (const VfPort& port : ports) {
    if (port.pf.none())
      ++desired_.unknown;
    else
      desired_.by_pf[port.pf].insert(port.vf);
  }
  update_report();
}

bool GuidMapping::is_active() const {
  return settings_.enabled ? desired_.given : !written_.all().empty();
}

const std::set<ib::Guid>& GuidMapping::vfs_of(ib::Guid pf) const {
  static const std::set<ib::Guid> kNone;
  const auto found = desired_.by_pf.find(pf);
  return found == desired_.by_pf.end() || !settings_.enabled ? kNone : found->second;
}

// Those that have a group, or are to have one.
std::set<ib::Guid> GuidMapping::pfs() const {
  std::set<ib::Guid> pfs;
  if (settings_.enabled)
    for (const auto& [pf, vfs] : desired_.by_pf) pfs.insert(pf);
  for (const auto& [pf, port] : written_.all()) pfs.insert(pf);
  return pfs;
}

bool GuidMapping::tick(UfmApi& api, Time now) {
  if (!is_active() || (fault_ && now < fault_->retry)) return false;
  // It may lack the last changes.
  if (std::exchange(generation_, api.master_generation()) != api.master_generation()) reading_ = {};
  std::optional<GroupStep> step;
  const bool stale = !reading_.valid || now >= reading_.next || reading_.calls >= kMostCalls;
  if (!stale) step = next_step(now);
  bool called = false;
  if (step) {
    called = connection_.may(Use::change, now) && take(api, *step, now);
  } else if (stale || reading_.calls > 0) {
    called = connection_.may(Use::read, now) && read(api, now);
  }
  if (called) update_report();
  return called;
}

// Additions come first, so that one reading is enough for many.
std::optional<GroupStep> GuidMapping::next_step(Time now) const {
  std::optional<GroupStep> removal;
  for (const ib::Guid pf : pfs()) {
    const auto found = ports_.find(pf);
    const Port port = found == ports_.end() ? Port() : found->second;
    if (port.fault && now < port.fault->retry) continue;
    std::optional<GroupStep> step = plan_groups(pf, vfs_of(pf), shown_, port.progress);
    if (!step) continue;
    if (step->kind == GroupStep::Kind::add) return step;
    if (!removal) removal = std::move(step);
  }
  return removal;
}

bool GuidMapping::read(UfmApi& api, Time now) {
  Result<std::vector<GuidGroup>> groups = api.guid_groups();
  reading_ = {};
  if (!groups) {
    read_failure_ = groups.error().text();
    if (groups.error().code() == Code::unsupported)
      fault_ = {read_failure_, now + kUnsupportedPause};
    else if (is_refusal(groups.error()))
      fault_ = {read_failure_, now + kRefusedPause};
    else
      connection_.failed(Use::read, groups.error(), api.peer(), now);
    return true;
  }
  read_failure_.clear();
  fault_.reset();
  connection_.succeeded(Use::read);
  generation_ = api.master_generation();
  shown_ = ShownGroups(std::move(groups).value(), written_.all());
  reading_ = {.valid = true, .calls = 0, .next = now + settings_.read_interval};
  for (const ib::Guid pf : pfs()) {
    const Status noted = note_reading(pf, now);
    if (!noted) fault_ = {noted.error().text(), now + kRecordPause};
  }
  if (!next_step(now)) {
    change_failure_.clear();
    connection_.no_change_pending();
  }
  return true;
}

// A group that is not ours any more leaves the record when no late answer and no failover can bring
// it back.
Status GuidMapping::note_reading(ib::Guid pf, Time now) {
  Port& port = ports_[pf];
  WrittenPort written = written_.of(pf);
  const std::set<uint64_t> known = std::exchange(written.ids, {});
  std::set<ib::Guid> vfs = vfs_of(pf);
  for (const GuidGroup* const group : shown_.ours(pf)) {
    written.ids.insert(group->id);
    port.absent.erase(group->id);
    vfs.insert(group->virtual_guids.begin(), group->virtual_guids.end());
  }
  for (const uint64_t id : known) {
    if (written.ids.contains(id)) continue;
    const Time since = port.absent.emplace(id, now).first->second;
    if (now - since < kLate) written.ids.insert(id);
  }
  std::erase_if(port.absent, [&](const auto& one) { return !written.ids.contains(one.first); });
  if (port.made == Time()) port.made = now;
  if (now - port.made >= kLate) written.making = false;
  if (port.absent.empty() && !written.making) written.vfs = std::move(vfs);
  const bool was_made =
      std::exchange(port.progress, {.remove_first = port.progress.remove_first}).made;
  const auto next = plan_groups(pf, vfs_of(pf), shown_, port.progress);
  if (!next) port.fault.reset();
  if (was_made && next && next->kind == GroupStep::Kind::add && next->vfs == port.asked)
    port.fault = {"UFM has accepted the group, and does not show it", now + kIgnoredPause};
  TRY(written_.write(pf, std::move(written)));
  if (written_.of(pf).empty() && vfs_of(pf).empty()) ports_.erase(pf);
  return ok();
}

// On disk before the call.
Status GuidMapping::record(const GroupStep& step) {
  if (step.kind == GroupStep::Kind::remove) return ok();
  WrittenPort written = written_.of(step.pf);
  written.vfs.insert(step.vfs.begin(), step.vfs.end());
  written.making = true;
  return written_.write(step.pf, std::move(written));
}

bool GuidMapping::take(UfmApi& api, const GroupStep& step, Time now) {
  const Status recorded = record(step);
  if (!recorded) {
    fault_ = {"cannot record the change before it is made: " + recorded.error().text(),
              now + kRecordPause};
    return true;
  }
  Port& port = ports_[step.pf];
  Status done = ok();
  if (step.kind == GroupStep::Kind::add) {
    port.made = now;
    const Result<uint64_t> id = api.add_guid_group(step.pf, {step.vfs.begin(), step.vfs.end()});
    if (!id) done = id.error();
  } else {
    done = api.remove_guid_group(step.id);
  }
  ++reading_.calls;
  if (!done && !is_refusal(done.error())) {
    change_failure_ = done.error().text();
    connection_.failed(Use::change, done.error(), api.peer(), now);
    reading_ = {};
    return true;
  }
  change_failure_.clear();
  connection_.succeeded(Use::change);
  if (!done) {
    note_refusal(step, done.error(), now);
  } else if (step.kind == GroupStep::Kind::add) {
    port.progress.made = true;
    port.asked = step.vfs;
  } else {
    port.progress.removed.insert(step.id);
  }
  return true;
}

// A UFM that takes a port into one group only can only be given a new one after the old one.
void GuidMapping::note_refusal(const GroupStep& step, const Error& error, Time now) {
  Port& port = ports_[step.pf];
  const bool may_help = step.kind == GroupStep::Kind::add && !shown_.ours(step.pf).empty();
  if (may_help && !port.progress.remove_first) {
    port.progress.remove_first = true;
    return;
  }
  port.fault = {error.text(), now + kRefusedPause};
}

std::optional<GuidMapping::Time> GuidMapping::alarm(Time now) const {
  if (!is_active()) return std::nullopt;
  if (fault_ && fault_->retry > now) return fault_->retry;
  std::optional<Time> first;
  const auto add = [&](Time time) {
    if (time > now && (!first || time < *first)) first = time;
  };
  add(reading_.next);
  add(connection_.not_before(Use::read));
  add(connection_.not_before(Use::change));
  for (const auto& [pf, port] : ports_)
    if (port.fault) add(port.fault->retry);
  return first;
}

}  // namespace ibpod::sm::ufm
