// What the steward makes of what others have seen.
#include "sm/controller/controller.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

using fabric::Reason;

// Why what is asked is not in force, where that is for all the same reason.
fabric::Standing hindrance_of(const Standing& engine) {
  const auto because = [&](Reason reason) {
    return fabric::Standing{reason, "the subnet manager is " + std::string(name(engine.health)) +
                                        (engine.trouble.empty() ? "" : ": " + engine.trouble)};
  };
  switch (engine.health) {
    case Health::starting:
    case Health::serving:
      return {};
    case Health::gone:
    case Health::not_master:
      return because(Reason::no_master);
    case Health::other_file:
    case Health::failed_open:
    case Health::refused:
    case Health::stuck:
      return because(Reason::misconfigured);
  }
  return {};
}

// By a table of ours that has been lost: what was in force is not known any more.
uint64_t losses_in(const Standing& engine) {
  return engine.violations + engine.fail_opens + engine.losses;
}

}  // namespace

// --- the engine

// Time is looked at behind the engine: what was read before need not have been in force then.
void Steward::engine_changed() {
  const Standing standing = world_.engine.standing();
  const Placements::Time now = world_.clock();
  if (standing.placed < placed_.newest() || standing.swept < swept_.newest()) ++falls_;
  const uint64_t era = losses_in(standing) + standing.edits + falls_;
  placed_.begin(era);
  swept_.begin(era);
  if (losses_in(standing) > losses_) {
    losses_ = losses_in(standing);
    world_.ledger.note_doubt({Reason::misconfigured,
                              "the subnet manager may have worked with other partitions than "
                              "these: the port has to be seen again"},
                             now_);
  }
  if (standing.swept > swept_.newest()) world_.tables.swept();
  // Only now are all tables as the subnet manager has them; what was seen before is of another.
  if (standing.swept > 0 && swept_.newest() == 0) world_.tables.look();
  placed_.placed(standing.placed, now);
  swept_.placed(standing.swept, now);
  // One that has just been started may end at once: what was wrong is over when it serves.
  if (standing.health != Health::starting)
    world_.report.trouble("subnet manager", standing.trouble);
  world_.report.trouble("memory limit", standing.shared_cgroup);
  world_.report.trouble("next start of the subnet manager", standing.start_refused);
  take_hindrance(hindrance_of(standing));
  take_administrators();
  if (!refused_.empty()) declare_at_ = now_.steady;  // it may have been the engine that refused
}

void Steward::take_hindrance(fabric::Standing now) {
  if (now == hindrance_) return;
  hindrance_ = std::move(now);
  const fabric::Standing told =
      hindrance_.reason == Reason::none ? fabric::Standing{Reason::waiting, ""} : hindrance_;
  const std::set<ib::Guid> unsettled = world_.ledger.unsettled();
  for (const ib::Guid port : unsettled) world_.ledger.note_trouble(port, told, now_);
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
  if (readings.scan && readings.topology) scanned_ = readings.begun;
  if (readings.topology) note_met();
  for (const Reading& reading : readings.ports) {
    if (reading.of_repair) end_repair(reading);
    // A read that began while a repair was under way may have found the table of before it.
    const Placements::Time at = reading.of_repair ? now_.steady : readings.begun;
    sightings_.take(reading, placed, swept, at);
  }
  for (const Reading& reading : readings.ports) judge(reading.port);
  if (readings.scan)
    judge_scan(readings);
  else
    world_.report.read(readings.packets);
}

void Steward::judge_scan(const Readings& readings) {
  sightings_.forget_nodes(now_.steady - settings_.node_lasts);
  std::erase_if(ended_, [&](const auto& one) { return one.second < scanned_; });
  judge_unseen();
  if (sightings_.topology().whole()) mending_.forget_absent(sightings_.topology());
  PortCounts counts;
  counts.ports = sightings_.topology().ports().size();
  for (const auto& [port, sight] : sightings_.ports()) {
    const Finding finding = sightings_.find(port, world_.ledger.changed_in(port), wanted_);
    counts.missing += finding.verdict.missing.empty() ? 0 : 1;
    counts.foreign += finding.verdict.foreign.empty() ? 0 : 1;
    counts.unseen += finding.kind == Finding::Kind::unseen ? 1 : 0;
  }
  world_.report.scanned(counts, readings.packets, now_.steady - readings.begun);
  const bool wrong = sightings_.topology().whole() && !sightings_.of_own_subnet();
  world_.report.trouble("subnet", wrong ? wrong_subnet() : "");
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

// All ports of our own subnet have been looked at, and none has this GUID.
bool Steward::is_nowhere(ib::Guid port) const {
  const fabric::Topology& topology = sightings_.topology();
  return topology.whole() && sightings_.of_own_subnet() && topology.find(port) == nullptr;
}

// Nothing holds a key any more that is nowhere on the subnet: enough for a node that an
// administrator has declared to be gone. A VF that is a virtual port of its PF's is on no subnet,
// and may be there all the same.
bool Steward::may_be_gone(ib::Guid port) const {
  const fabric::Topology& topology = sightings_.topology();
  if (!is_nowhere(port)) return false;
  if (swept_.newest() < world_.ledger.changed_in(port)) return false;
  const auto bindings = world_.ledger.bindings_on(port);
  return !bindings.empty() &&
         std::all_of(bindings.begin(), bindings.end(), [&](const fabric::Binding* binding) {
           const auto node = world_.ledger.node(binding->attachment.node);
           const bool pf_gone =
               binding->kind == fabric::Kind::child ||
               (binding->pf_guid.none() ? !has_virtual_ports() : !topology.find(binding->pf_guid));
           return node && node->forgetting && (pf_gone || shows_while_used(*binding));
         });
}

void Steward::note_ended() {
  for (const ib::Guid guid : world_.ledger.take_ended()) ended_[guid] = now_.steady;
}

// A GUID that was chosen, and that no port shows: the VF has not been given it yet, or has its own
// back, as after a boot. Nobody would ever say that its keys have gone.
bool Steward::is_left(ib::Guid port) const {
  if (!is_nowhere(port) || sightings_.of_node(port) != nullptr) return false;
  if (swept_.at(scanned_) < world_.ledger.changed_in(port)) return false;
  const auto bindings = world_.ledger.bindings_on(port);
  return !bindings.empty() &&
         std::all_of(bindings.begin(), bindings.end(), [&](const fabric::Binding* binding) {
           return binding->chosen && binding->state == fabric::State::releasing &&
                  shows_while_used(*binding);
         });
}

// A GUID that a pod has chosen goes with its binding, while the VF may show it until that has its
// own back; and a port may show it of which nothing is known here. Who gets it next would share his
// keys with that port.
Status Steward::check_vacant(const fabricapi::BindRequest& request) {
  note_ended();
  // Of one that is bound the ledger knows whose it is.
  if (!request.chosen || !world_.ledger.bindings_on(request.guid).empty()) return ok();
  const auto ended = ended_.find(request.guid);
  const Placements::Time since = ended == ended_.end() ? Placements::Time{} : ended->second;
  if (scanned_ > since && is_nowhere(request.guid)) return ok();
  return Error(Code::busy, "port " + request.guid.text() +
                               " may be somebody's still: it can be chosen when a look at all "
                               "ports has not found it (look.scanSeconds)");
}

// Of a port that exists a look shows it sooner or later; GUIDs that nobody has ever seen cost
// nothing to name. Before the first look nothing is known.
Status Steward::check_unseen(const fabricapi::BindRequest& request) const {
  const Ledger& ledger = world_.ledger;
  if (scanned_ == Placements::Time{} || sightings_.has_met(request.guid)) return ok();
  if (!ledger.bindings_on(request.guid).empty()) return ok();
  const std::string& node = request.attachment.node;
  const std::vector<ib::Guid> ports = ledger.ports_of(node);
  const auto unseen = static_cast<size_t>(std::count_if(
      ports.begin(), ports.end(), [&](ib::Guid port) { return !sightings_.has_met(port); }));
  const size_t most = ledger.limits().unseen_of_node;
  if (unseen < most) return ok();
  return Error(Code::busy,
               "node " + node + " has " + std::to_string(unseen) +
                   " bindings on ports that no look at the subnet has ever found, and a "
                   "node may have " +
                   std::to_string(most) +
                   ": end pods there, see why their ports are not on the subnet, or "
                   "raise limits.unseenPortsOfNode in ibpod-sm's configuration");
}

// A port of a virtual machine that has not started, or has ended, is on no subnet. An administrator
// may have it that the subnet manager's knowing is enough then.
bool Steward::stands_unproved(ib::Guid port, const Finding& finding) const {
  if (finding.standing.reason != Reason::port_unknown) return false;
  if (!is_nowhere(port) || sightings_.of_node(port) != nullptr) return false;
  const auto bindings = world_.ledger.bindings_on(port);
  return swept_.at(scanned_) >= world_.ledger.changed_in(port) &&
         world_.ledger.needs_no_proof(port) &&
         std::all_of(bindings.begin(), bindings.end(),
                     [&](const fabric::Binding* binding) { return shows_while_used(*binding); });
}

// A virtual port is on no subnet even while it is in use.
bool Steward::shows_while_used(const fabric::Binding& binding) const {
  const fabric::SeenPort* const pf = sightings_.topology().find(binding.pf_guid);
  return binding.kind == fabric::Kind::vf && pf != nullptr && !pf->virtualized;
}

// A VF that is a virtual port of its PF's shows nowhere, where the subnet manager does not serve
// such; nor does one that is not there.
fabric::Standing Steward::why_unseen(ib::Guid port, const fabric::Standing& standing) const {
  if (standing.reason != Reason::port_unknown) return standing;
  for (const fabric::Binding* const binding : world_.ledger.bindings_on(port)) {
    const fabric::SeenPort* const pf = sightings_.topology().find(binding->pf_guid);
    if (binding->kind != fabric::Kind::vf || pf == nullptr || !pf->virtualized) continue;
    return {Reason::vport, "the VF is a virtual port behind " +
                               described(sightings_.topology(), pf->guid) +
                               ", and this subnet manager does not serve those: it takes NVIDIA's "
                               "OpenSM with virt_enabled 2, or UFM"};
  }
  if (sightings_.has_gone(port))
    return {Reason::port_down,
            "the port was on the subnet, and is not any more: its link is down, or its node is"};
  return standing;
}

std::string Steward::wrong_subnet() const {
  return "the subnet that is looked at has no port " + settings_.own_port->text() +
         ", which is the subnet manager's: see `look` and `opensm.port`";
}

void Steward::judge(ib::Guid port) {
  if (!sightings_.of_own_subnet() && sightings_.topology().whole())
    return world_.ledger.note_trouble(port, {Reason::unreachable, wrong_subnet()}, now_);
  // Before the first sweep that has read any of it, no table says anything; nor does one that is
  // being written.
  if (swept_.newest() == 0 || mending_.under_way(port)) return;
  const Finding finding =
      sightings_.find(port, std::max<uint64_t>(world_.ledger.changed_in(port), 1), wanted_);
  switch (finding.kind) {
    case Finding::Kind::nothing:
      return;
    case Finding::Kind::good:
      mending_.settle(port);
      world_.ledger.note_verified(port, finding.version, finding.proof, finding.enforcement, now_);
      return;
    case Finding::Kind::wrong:
      // A sweep that goes on may be about to write it.
      if (!finding.drifted) return;
      world_.ledger.note_trouble(port, finding.standing, now_);
      plan_mend(port, finding);
      return;
    case Finding::Kind::unseen:
      mending_.drop(port);
      if (stands_unproved(port, finding)) {
        world_.ledger.note_verified(port, swept_.newest(), fabric::Proof::none,
                                    fabric::Enforcement::unknown, now_);
        return;
      }
      world_.ledger.note_trouble(port, why_unseen(port, finding.standing), now_);
      if (finding.standing.reason == Reason::port_unknown && (may_be_gone(port) || is_left(port)))
        world_.ledger.note_clean(port, swept_.newest(), fabric::Proof::port, now_);
      else if (was_never_there(port))
        world_.ledger.note_never_there(port, swept_.newest());
      return;
  }
}

// --- mending

// Another subnet manager's tables are left to it, and those of another subnet to theirs.
bool Steward::may_mend() const {
  const Health health = world_.engine.standing().health;
  return world_.engine.writes() && sightings_.of_own_subnet() &&
         (health == Health::serving || health == Health::gone);
}

// The subnet manager moves a port from INIT to ARMED after it has written its table. Until then the
// table is as the adapter has made it, and nobody has changed it. The state may be of an older scan
// than the table, so the table has to look like that, too.
bool Steward::awaits_sm(ib::Guid port, const ib::PKeyTable& table) const {
  const fabric::SeenPort* const seen = sightings_.topology().find(port);
  const auto is_initial = [](ib::PKey key) {
    return key.partition() == 0 || key == ib::kDefaultFull;
  };
  return seen != nullptr && seen->state == ib::PortState::init &&
         std::all_of(table.begin(), table.end(), is_initial);
}

void Steward::plan_mend(ib::Guid port, const Finding& finding) {
  if (!may_mend()) return mending_.drop(port);
  const Sight* const sight = sightings_.of_port(port);
  if (sight == nullptr || !mending_.may_plan(port, now_.steady)) return;
  const TableRead& read = finding.leaf ? sight->reading.leaf->table : sight->reading.table;
  const auto* const table = std::get_if<ib::PKeyTable>(&read);
  if (table == nullptr) return;
  const WantedKeys wanted = wanted_.of(sightings_.end_port(port));
  const Result<ib::PKeyTable> right = mended(*table, finding.leaf ? wanted.anywhere() : wanted);
  if (!right) {
    world_.ledger.note_trouble(port, {Reason::capacity, right.error().text()}, now_);
    return;
  }
  if (!awaits_sm(port, *table) && mending_.mark_reported(port, finding.verdict))
    world_.report.drifted(port, finding.standing.text);
  const Repair::Kind kind =
      finding.verdict.foreign.empty() ? Repair::Kind::bind : Repair::Kind::revoke;
  const Repair::Table whose = finding.leaf ? Repair::Table::leaf : Repair::Table::own;
  std::vector<Repair> repairs;
  for (const uint16_t block : mad::different_blocks(*table, *right))
    repairs.push_back(
        {kind, port, whose, block, mad::block_of(*table, block), mad::block_of(*right, block)});
  mending_.plan(port, world_.ledger.changed_in(port), repairs, now_.steady);
}

void Steward::end_repair(const Reading& reading) {
  mending_.over(reading.port);
  const auto& failure = reading.not_repaired;
  world_.report.repaired(failure ? name(failure->why) : "written");
  if (failure)
    world_.report.warning("port " + reading.port.text() +
                          " could not be mended: " + failure->text());
}

void Steward::mend() {
  std::vector<Repair> repairs =
      mending_.take([&](ib::Guid port) { return world_.ledger.changed_in(port); });
  if (!repairs.empty()) world_.tables.repair(std::move(repairs));
}

void Steward::hurry() {
  std::set<ib::Guid> ports = world_.ledger.unsettled();
  ports.merge(mending_.unsettled());
  if (ports == hurried_) return;
  hurried_ = ports;
  world_.tables.hurry(std::move(ports));
}

// --- nodes

// Keys at places that the port does not have. Free places there say nothing.
Status Steward::check_places(const fabricapi::ObserveRequest::Seen& seen) const {
  const fabric::SeenPort* const port = sightings_.topology().find(seen.guid);
  if (port == nullptr || port->places == 0 || seen.table.size() <= port->places) return ok();
  const auto key = std::find_if(seen.table.rbegin(), seen.table.rend(),
                                [](ib::PKey one) { return one.partition() != 0; });
  const auto places = static_cast<size_t>(seen.table.rend() - key);
  if (places <= port->places) return ok();
  return Error(Code::invalid, "ports.table: expected at most " + std::to_string(port->places) +
                                  " places, which port " + seen.guid.text() + " has, got " +
                                  std::to_string(places));
}

// Of places in use, in all tables that one node tells: what no node needs that keeps to its
// memberships.
size_t Steward::most_told() const {
  constexpr size_t kLeast = 64 << 10;
  return std::max(kLeast, 2 * world_.ledger.limits().memberships_of_node);
}

void Steward::observe(const Caller& caller, const fabricapi::ObserveRequest& request,
                      Done<fabricapi::ObserveAnswer> done) {
  if (caller.role == fabricapi::Role::reader ||
      (caller.role == fabricapi::Role::node && caller.node != request.node))
    return done(Error(Code::denied, "a node speaks for itself only"));
  for (const auto& seen : request.ports) {
    if (world_.ledger.whose(seen.guid, request.node) == Whose::others)
      return done(
          Error(Code::denied, "port " + seen.guid.text() + " is not one of node " + request.node));
    const Status possible = check_places(seen);
    if (!possible) return done(possible.error());
  }
  world_.ledger.note_heard(request.node, now_);
  const size_t middle = std::min(request.stamp.find('/'), request.stamp.size());
  const std::string_view stamp = request.stamp;
  const uint64_t placed = placed_.at(stamp.substr(0, middle));
  const uint64_t swept = middle < stamp.size() ? swept_.at(stamp.substr(middle + 1)) : 0;
  for (const auto& seen : request.ports) {
    if (world_.ledger.whose(seen.guid, request.node) != Whose::own) continue;
    const Status taken = sightings_.take(request.node, seen.guid,
                                         {seen.table, placed, swept, now_.steady}, most_told());
    if (!taken) return done(taken.error());
    judge(seen.guid);
  }
  fabricapi::ObserveAnswer answer{placed_.stamp() + "/" + swept_.stamp(), {}};
  for (const ib::Guid port : world_.ledger.unsettled())
    if (world_.ledger.whose(port, request.node) == Whose::own) answer.wanted.push_back(port);
  done(std::move(answer));
}

}  // namespace ibpod::sm
