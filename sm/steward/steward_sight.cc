// What the steward makes of what others have seen.
#include "sm/steward/steward.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

using fabric::Reason;

// A table that has just been written is not written again before this is over.
constexpr Duration kBetweenMends{1000};

}  // namespace

// --- the engine

void Steward::engine_changed() {
  const Standing standing = world_.engine.standing();
  // Something that is not ours has been in the file's place: what was read since says nothing.
  if (standing.swept < swept_.newest()) {
    placed_.placed(0, now_.steady);
    swept_.placed(0, now_.steady);
  }
  if (standing.swept > swept_.newest()) world_.tables.swept();
  placed_.placed(standing.placed, now_.steady);
  swept_.placed(standing.swept, now_.steady);
  world_.report.trouble("subnet manager", standing.trouble);
  take_administrators();
}

void Steward::take_administrators() {
  std::vector<fabric::Partition> now = world_.engine.administrators();
  if (now == administrators_) return;
  administrators_ = std::move(now);
  leave_alone();
  if (partitions_) want_anew();
}

// --- ports

void Steward::seen(const Readings& readings) {
  if (readings.topology) sightings_.take(readings.topology);
  const uint64_t placed = placed_.at(readings.begun);
  const uint64_t swept = swept_.at(readings.begun);
  for (const Reading& reading : readings.ports)
    sightings_.take(reading, placed, swept, readings.begun);
  for (const Reading& reading : readings.ports) judge(reading.port);
  if (readings.whole)
    judge_scan(readings);
  else
    world_.report.read(readings.packets);
}

void Steward::judge_scan(const Readings& readings) {
  judge_unseen();
  PortCounts counts;
  counts.ports = sightings_.topology().ports().size();
  for (const auto& [port, sight] : sightings_.ports()) {
    const Finding finding = sightings_.find(port, world_.ledger.changed_in(port), wanted_);
    counts.missing += finding.verdict.missing.empty() ? 0 : 1;
    counts.foreign += finding.verdict.foreign.empty() ? 0 : 1;
    counts.unseen += finding.kind == Finding::Kind::unseen ? 1 : 0;
  }
  world_.report.scanned(counts, readings.packets, now_.steady - readings.begun);
}

// Ports that some partition names, and that the scan has not met.
void Steward::judge_unseen() {
  const bool whole = sightings_.topology().whole();
  for (const ib::Guid port : wanted_.named()) {
    if (sightings_.topology().find(port) != nullptr) continue;
    const Reading reading{.port = port,
                          .table = NotRead{whole ? Unread::port_unknown : Unread::timeout}};
    sightings_.take(reading, placed_.newest(), swept_.newest(), now_.steady);
    judge(port);
  }
}

// Nothing holds a key any more that is nowhere on the subnet: enough for a node that an
// administrator has declared to be gone.
bool Steward::may_be_gone(ib::Guid port) const {
  if (sightings_.topology().find(port) != nullptr || !sightings_.topology().whole()) return false;
  if (swept_.newest() < world_.ledger.changed_in(port)) return false;
  const std::vector<fabric::Binding> bindings = world_.ledger.bindings_of(port);
  return !bindings.empty() &&
         std::all_of(bindings.begin(), bindings.end(), [&](const fabric::Binding& binding) {
           const auto node = world_.ledger.node(binding.attachment.node);
           return node && node->forgetting;
         });
}

// A VF that is a virtual port of its PF's shows nowhere, where the subnet manager does not serve
// such; nor does one that is not there.
fabric::Standing Steward::why_unseen(ib::Guid port, const fabric::Standing& standing) const {
  if (standing.reason != Reason::port_unknown) return standing;
  for (const fabric::Binding& binding : world_.ledger.bindings_of(port)) {
    const fabric::SeenPort* const pf = sightings_.topology().find(binding.pf_guid);
    if (binding.kind != fabric::Kind::vf || pf == nullptr || !pf->virtualized) continue;
    return {Reason::vport, "the VF is a virtual port behind " +
                               described(sightings_.topology(), pf->guid) +
                               ", and this subnet manager does not serve those: it takes NVIDIA's "
                               "OpenSM with virt_enabled 2, or UFM"};
  }
  return standing;
}

void Steward::judge(ib::Guid port) {
  // Before the first sweep that has read any of it, no table says anything.
  const uint64_t changed_in = std::max<uint64_t>(world_.ledger.changed_in(port), 1);
  if (swept_.newest() == 0) return;
  const Finding finding = sightings_.find(port, changed_in, wanted_);
  switch (finding.kind) {
    case Finding::Kind::nothing:
      return;
    case Finding::Kind::good:
      world_.ledger.note_verified(port, finding.version, finding.proof, finding.enforcement, now_);
      return;
    case Finding::Kind::wrong:
      // A sweep that goes on may be about to write it.
      if (!finding.drifted) return;
      world_.ledger.note_trouble(port, finding.standing, now_);
      plan_mend(port, finding);
      return;
    case Finding::Kind::unseen:
      world_.ledger.note_trouble(port, why_unseen(port, finding.standing), now_);
      if (finding.standing.reason == Reason::port_unknown && may_be_gone(port))
        world_.ledger.note_clean(port, swept_.newest(), fabric::Proof::port, now_);
      return;
  }
}

// --- mending

void Steward::plan_mend(ib::Guid port, const Finding& finding) {
  const Sight* const sight = sightings_.of_port(port);
  const auto* const table =
      sight == nullptr ? nullptr : std::get_if<ib::PKeyTable>(&sight->reading.table);
  if (!world_.engine.writes() || table == nullptr) return;
  const auto last = mended_.find(port);
  if (last != mended_.end() && now_.steady < last->second + kBetweenMends) return;
  const Result<ib::PKeyTable> right = mended(*table, wanted_.of(sightings_.end_port(port)));
  if (!right) {
    world_.ledger.note_trouble(port, {Reason::capacity, right.error().text()}, now_);
    return;
  }
  mended_[port] = now_.steady;
  world_.report.drifted(port, finding.standing.text);
  const Repair::Kind kind =
      finding.verdict.foreign.empty() ? Repair::Kind::bind : Repair::Kind::revoke;
  for (const uint16_t block : mad::different_blocks(*table, *right))
    repairs_.push_back({kind, port, Repair::Table::own, block, mad::block_of(*table, block),
                        mad::block_of(*right, block)});
}

void Steward::mend() {
  if (repairs_.empty()) return;
  world_.report.mended(repairs_.size());
  world_.tables.repair(std::exchange(repairs_, {}));
}

void Steward::hurry() {
  std::set<ib::Guid> ports = world_.ledger.unsettled();
  if (ports == hurried_) return;
  hurried_ = ports;
  world_.tables.hurry(std::move(ports));
}

// --- nodes

void Steward::observe(const Caller& caller, const fabricapi::ObserveRequest& request,
                      Done<fabricapi::ObserveAnswer> done) {
  if (caller.role == fabricapi::Role::reader ||
      (caller.role == fabricapi::Role::node && caller.node != request.node))
    return done(Error(Code::denied, "a node speaks for itself only"));
  const auto of_node = [&](ib::Guid port) {
    const std::vector<fabric::Binding> bindings = world_.ledger.bindings_of(port);
    return std::any_of(bindings.begin(), bindings.end(), [&](const fabric::Binding& binding) {
      return binding.attachment.node == request.node;
    });
  };
  for (const auto& seen : request.ports) {
    if (!of_node(seen.guid))
      return done(Error(Code::denied, "the node " + request.node + " has no binding of the port " +
                                          seen.guid.text()));
  }
  const uint64_t placed = placed_.at(request.stamp);
  for (const auto& seen : request.ports) {
    sightings_.take(seen.guid, {seen.table, placed, now_.steady});
    judge(seen.guid);
  }
  fabricapi::ObserveAnswer answer{placed_.stamp(), {}};
  for (const ib::Guid port : world_.ledger.unsettled())
    if (of_node(port)) answer.wanted.push_back(port);
  done(std::move(answer));
}

}  // namespace ibpod::sm
