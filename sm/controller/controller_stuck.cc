// Deletions and releases that wait for ports which may never answer: when they end, and how they
// are reported.
#include "sm/controller/controller.h"

#include <algorithm>

namespace ibpod::sm::controller {
namespace {

// A port on the subnet has been read many times in this period.
constexpr Duration kLong{120'000};

bool holds(const probe::TableOrError& read, ib::PKey pkey) {
  const auto* const table = std::get_if<ib::PKeyTable>(&read);
  return table != nullptr && std::any_of(table->begin(), table->end(),
                                         [&](ib::PKey key) { return key.same_partition(pkey); });
}

}  // namespace

void Controller::forget_ports(const Caller& caller, const std::string& partition,
                              Done<fabric::PartitionStatus> done) {
  const auto known_to_hold = [this](ib::Guid port, ib::PKey pkey) {
    const verify::NodeObservation* const report = observations_.find_node_report(port);
    if (report != nullptr && holds(report->table, pkey)) return true;
    const verify::Observation* const observation = observations_.find_port(port);
    if (observation == nullptr) return false;
    const probe::ProbeResult& reading = observation->result;
    return holds(reading.table, pkey) ||
           (reading.switch_port && holds(reading.switch_port->table, pkey));
  };
  auto removed = deps_.registry.forget_ports(caller, partition, known_to_hold);
  audit(caller, "force delete partition", partition, removed ? ok() : Status(removed.error()));
  answer(std::move(removed), std::move(done));
}

// Before the first scan, and after an incomplete one, any port may be on the subnet.
void Controller::note_seen_ports() {
  deps_.registry.note_seen([this](ib::Guid port) {
    return last_scan_began_ == verify::VersionHistory::Time{} || !is_absent(port) ||
           observations_.find_node_report(port) != nullptr;
  });
}

// OpenSM writes a port's table when it finds the port. A port may have been there between two
// scans; when it returns, OpenSM corrects its table before the port carries traffic
// (docs/opensm-notes.md). Virtual ports are never on the subnet, so with those the function returns
// false.
bool Controller::was_never_seen(ib::Guid port) const {
  if (!deps_.subnet_manager.writes() || !is_absent(port)) return false;
  return swept_.at(last_scan_began_) >= deps_.registry.changed_in(port) && !has_virtual_ports();
}

bool Controller::has_virtual_ports() const {
  const auto& ports = observations_.topology().ports();
  return std::any_of(ports.begin(), ports.end(),
                     [](const fabric::Port& seen) { return seen.virtualized; });
}

// True if neither the prober nor the node has read the port's table. A port that was read and still
// has the key is another finding.
bool Controller::is_silent(ib::Guid port) const {
  const verify::Observation* const observation = observations_.find_port(port);
  const bool read =
      observation != nullptr && std::holds_alternative<ib::PKeyTable>(observation->result.table);
  return !read && observations_.find_node_report(port) == nullptr;
}

// Empty while the subnet manager does not serve: everything waits for it, and that is reported
// itself.
std::vector<diagnose::StuckDeletion> Controller::stuck_deletions() const {
  const bool looked =
      last_scan_began_ != verify::VersionHistory::Time{} && now_.steady - started_ >= kLong;
  if (!looked || engine_fault_.reason != fabric::Reason::none) return {};
  std::vector<diagnose::StuckDeletion> all;
  for (registry::Registry::DeletedPartition& one : deps_.registry.deleted_partitions()) {
    std::erase_if(one.ports, [this](ib::Guid port) { return !is_silent(port); });
    if (now_.steady - one.since >= kLong && !one.ports.empty())
      all.push_back({diagnose::StuckDeletion::Kind::partition, one.name, one.ports});
  }
  std::map<std::pair<std::string, diagnose::StuckDeletion::Kind>, std::vector<ib::Guid>> by_node;
  for (const fabric::Binding* const binding : deps_.registry.releasing()) {
    if (now_.wall - binding->changed < kLong || !is_silent(binding->guid)) continue;
    const fabric::Port* const pf = observations_.topology().find(binding->pf_guid);
    const bool vport = binding->kind == fabric::Kind::vf && pf != nullptr && pf->virtualized;
    by_node[{binding->attachment.node, vport ? diagnose::StuckDeletion::Kind::vports
                                             : diagnose::StuckDeletion::Kind::bindings}]
        .push_back(binding->guid);
  }
  for (auto& [key, ports] : by_node) all.push_back({key.second, key.first, std::move(ports)});
  return all;
}

diagnose::DeclaredFileFaults Controller::declared_file_faults() const {
  diagnose::DeclaredFileFaults faults;
  faults.declared = declared_.has_value() || !unreadable_.empty();
  if (!unreadable_.empty()) faults.texts.push_back(unreadable_);
  if (declared_)
    for (const std::string& error : declared_->errors) faults.texts.push_back(error);
  for (const auto& [name, error] : refused_) faults.texts.push_back(refusal_of(name, error));
  return faults;
}

}  // namespace ibpod::sm::controller
