// What waits for ports that may never answer: when that ends by itself, and what people are told.
#include "sm/controller/controller.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

// A port that is there has been read many times by then.
constexpr Duration kLong{120'000};

bool holds(const TableRead& read, ib::PKey pkey) {
  const auto* const table = std::get_if<ib::PKeyTable>(&read);
  return table != nullptr && std::any_of(table->begin(), table->end(),
                                         [&](ib::PKey key) { return key.same_partition(pkey); });
}

}  // namespace

void Steward::forget_ports(const Caller& caller, const std::string& partition,
                           Done<fabric::TenancyStatus> done) {
  const auto known_to_hold = [this](ib::Guid port, ib::PKey pkey) {
    const NodeSight* const told = sightings_.of_node(port);
    if (told != nullptr && holds(told->table, pkey)) return true;
    const Sight* const sight = sightings_.of_port(port);
    if (sight == nullptr) return false;
    const Reading& reading = sight->reading;
    return holds(reading.table, pkey) || (reading.leaf && holds(reading.leaf->table, pkey));
  };
  auto removed = world_.ledger.forget_ports(caller, partition, known_to_hold);
  audit(caller, "force delete partition", partition, removed ? ok() : Status(removed.error()));
  answer(std::move(removed), std::move(done));
}

// Before the first look, and in a part of the subnet that does not answer, any port may be.
void Steward::note_met() {
  world_.ledger.note_met([this](ib::Guid port) {
    return scanned_ == Placements::Time{} || !is_nowhere(port) ||
           sightings_.of_node(port) != nullptr;
  });
}

// OpenSM writes what a port is to hold when it finds the port. One that no look has found may have
// been there between two: when it is back OpenSM reads its table, and corrects it before the port
// carries anything (docs/opensm-notes.md). A virtual port shows nowhere while it is in use.
bool Steward::was_never_there(ib::Guid port) const {
  if (!world_.engine.writes() || !is_nowhere(port)) return false;
  return swept_.at(scanned_) >= world_.ledger.changed_in(port) && !has_virtual_ports();
}

bool Steward::has_virtual_ports() const {
  const auto& ports = sightings_.topology().ports();
  return std::any_of(ports.begin(), ports.end(),
                     [](const fabric::SeenPort& seen) { return seen.virtualized; });
}

// Of one whose table is read and still has the key another finding tells.
bool Steward::is_silent(ib::Guid port) const {
  const Sight* const sight = sightings_.of_port(port);
  const bool read = sight != nullptr && std::holds_alternative<ib::PKeyTable>(sight->reading.table);
  return !read && sightings_.of_node(port) == nullptr;
}

// While the subnet manager serves nobody all wait for that, which is told for itself.
std::vector<Stuck> Steward::stuck() const {
  const bool looked = scanned_ != Placements::Time{} && now_.steady - started_ >= kLong;
  if (!looked || hindrance_.reason != fabric::Reason::none) return {};
  std::vector<Stuck> all;
  for (Ledger::Retired& one : world_.ledger.retired()) {
    std::erase_if(one.ports, [this](ib::Guid port) { return !is_silent(port); });
    if (now_.steady - one.since >= kLong && !one.ports.empty())
      all.push_back({Stuck::What::partition, one.name, one.ports});
  }
  std::map<std::pair<std::string, Stuck::What>, std::vector<ib::Guid>> by_node;
  for (const fabric::Binding* const binding : world_.ledger.releasing()) {
    if (now_.wall - binding->changed < kLong || !is_silent(binding->guid)) continue;
    const fabric::SeenPort* const pf = sightings_.topology().find(binding->pf_guid);
    const bool vport = binding->kind == fabric::Kind::vf && pf != nullptr && pf->virtualized;
    by_node[{binding->attachment.node, vport ? Stuck::What::vports : Stuck::What::bindings}]
        .push_back(binding->guid);
  }
  for (auto& [key, ports] : by_node) all.push_back({key.second, key.first, std::move(ports)});
  return all;
}

DeclaredFaults Steward::declared_faults() const {
  DeclaredFaults faults;
  faults.declared = declared_.has_value() || !unreadable_.empty();
  if (!unreadable_.empty()) faults.texts.push_back(unreadable_);
  if (declared_)
    for (const std::string& error : declared_->errors) faults.texts.push_back(error);
  for (const auto& [name, error] : refused_) faults.texts.push_back(refusal_of(name, error));
  return faults;
}

}  // namespace ibpod::sm
