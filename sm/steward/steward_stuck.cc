// What waits for ports that may never answer: when that ends by itself, and what people are told.
#include "sm/steward/steward.h"

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
    const Sight* const sight = sightings_.of_port(port);
    if (sight == nullptr) return false;
    const Reading& reading = sight->reading;
    return holds(reading.table, pkey) || (reading.leaf && holds(reading.leaf->table, pkey));
  };
  auto removed = world_.ledger.forget_ports(caller, partition, known_to_hold);
  audit(caller, "delete partition", partition, removed ? ok() : Status(removed.error()));
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
  const auto& ports = sightings_.topology().ports();
  return swept_.at(scanned_) >= world_.ledger.changed_in(port) &&
         std::none_of(ports.begin(), ports.end(),
                      [](const fabric::SeenPort& seen) { return seen.virtualized; });
}

std::vector<Stuck> Steward::stuck() const {
  std::vector<Stuck> all;
  for (const Ledger::Retired& one : world_.ledger.retired())
    if (now_.steady - one.since >= kLong)
      all.push_back({Stuck::What::partition, one.name, one.ports});
  std::map<std::string, std::vector<ib::Guid>> by_node;
  for (const fabric::Binding* const binding : world_.ledger.releasing())
    if (now_.wall - binding->changed >= kLong)
      by_node[binding->attachment.node].push_back(binding->guid);
  for (auto& [node, ports] : by_node)
    all.push_back({Stuck::What::bindings, node, std::move(ports)});
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
