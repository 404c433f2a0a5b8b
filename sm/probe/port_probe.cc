#include "sm/probe/port_probe.h"

#include "lib/mad/node_info.h"
#include "lib/mad/pkey_table.h"

#include <algorithm>
#include <utility>

namespace ibpod::sm::probe {
namespace {

using mad::Attribute;
using Answer = mad::Outcome<mad::Data>;

mad::Request question(const mad::Route& route, Attribute attribute, uint8_t port,
                      const mad::QueryOptions& asking) {
  return {route, {.attribute = attribute, .modifier = port, .m_key = asking.m_key}, asking.retry};
}

TableOrError table_read(std::span<const Answer> blocks, uint16_t places) {
  const auto table = mad::table_of(blocks, places);
  if (const mad::Failure* const failure = mad::failure_of(table)) return probe_error(*failure);
  return *mad::value_of(table);
}

// Entries beyond the end of a table have no meaning.
mad::PKeyBlock within(mad::PKeyBlock block, uint16_t number, uint16_t places) {
  const size_t first = number * mad::kBlockEntries;
  const size_t count = std::clamp<size_t>(places, first, first + block.size()) - first;
  std::fill(block.begin() + static_cast<std::ptrdiff_t>(count), block.end(), ib::PKey());
  return block;
}

std::optional<ProbeError> not_port(const Answer& answer, ib::Guid guid) {
  const auto info = mad::parse_outcome<mad::NodeInfo>(answer, mad::parse_node_info);
  if (const mad::Failure* const failure = mad::failure_of(info)) return probe_error(*failure);
  if (mad::value_of(info)->port_guid != guid) return ProbeError{ProbeFailure::other_port};
  return std::nullopt;
}

}  // namespace

PortProbe::PortProbe(const fabric::Port& port, const fabric::Topology& topology,
                     const ProbeOptions& terms, std::vector<Repair> repairs)
    : port_(port), options_(terms), duplicate_guid_(topology.duplicates().contains(port.guid)) {
  for (Repair& repair : repairs) writes_.push_back({std::move(repair)});
  result_.port = port.guid;
  if (!port.switch_port || !port.switch_port->enforcement) return;
  const fabric::SwitchEnforcement& enforcement = *port.switch_port->enforcement;
  result_.switch_port = {ib::PKeyTable(), enforcement.inbound, enforcement.outbound};
  if (topology.duplicates().contains(port.switch_port->switch_guid)) {
    result_.switch_port->table = ProbeError{ProbeFailure::duplicate_guid};
  } else if (enforcement.partition_cap > ib::kMostTableEntries) {
    result_.switch_port->table = ProbeError{ProbeFailure::malformed};
  } else {
    switch_port_ = port.switch_port;
  }
}

mad::QueryOptions PortProbe::query_options() const {
  return {.retry = {options_.urgency, Deadline::in(options_.limit), options_.timeout,
                    options_.attempts},
          .m_key = options_.m_key};
}

mad::PortAddress PortProbe::destination_of(Repair::Table table) const {
  if (table == Repair::Table::switch_port) return {switch_port_->route, switch_port_->port};
  return {port_.route()};
}

uint16_t PortProbe::entries_of(Repair::Table table) const {
  return table == Repair::Table::switch_port ? switch_port_->enforcement->partition_cap
                                             : port_.partition_cap;
}

void PortProbe::fail(const ProbeError& why) {
  if (!result_.repair_error) result_.repair_error = why;
}

std::vector<mad::Request> PortProbe::next(const Answers& answers) {
  switch (step_) {
    case Step::begin:
      return compare();
    case Step::compare:
      return write(answers);
    case Step::write:
      written(answers);
      return read();
    case Step::read:
      return check(answers);
    case Step::check:
      take_table(answers);
      take_writes();
      step_ = Step::over;
      return {};
    case Step::over:
      return {};
  }
  return {};
}

// Ask for the node at the port's LID, the node at the switch's LID, and, by the path that ends with
// the switch's port, the node connected to that port.
PortProbe::Requests PortProbe::identity_requests() const {
  const mad::QueryOptions asked = query_options();
  Requests requests{question(port_.route(), Attribute::node_info, 0, asked)};
  if (!switch_port_) return requests;
  requests.push_back(question(switch_port_->route, Attribute::node_info, 0, asked));
  if (!options_.reread_switch_port && writes_.empty()) return requests;
  requests.push_back(question(port_.path, Attribute::node_info, 0, asked));
  requests.push_back(
      question(switch_port_->route, Attribute::port_info, switch_port_->port, asked));
  return requests;
}

std::optional<ProbeError> PortProbe::port_mismatch(std::span<const Answer> answers) const {
  return not_port(answers[0], port_.guid);
}

std::optional<ProbeError> PortProbe::switch_port_mismatch(std::span<const Answer> answers) const {
  auto why = not_port(answers[1], switch_port_->switch_guid);
  if (!why && answers.size() > 2) why = not_port(answers[2], port_.guid);
  return why;
}

PortProbe::Requests PortProbe::compare() {
  if (duplicate_guid_ || port_.partition_cap > ib::kMostTableEntries) {
    const ProbeError why{duplicate_guid_ ? ProbeFailure::duplicate_guid : ProbeFailure::malformed};
    result_.table = why;
    if (result_.switch_port) result_.switch_port->table = why;
    if (!writes_.empty()) fail(why);
    step_ = Step::over;
    return {};
  }
  if (!switch_port_) {
    const auto of_leaf = [](const Write& one) {
      return one.repair.table == Repair::Table::switch_port;
    };
    if (std::erase_if(writes_, of_leaf) != 0) fail({ProbeFailure::port_unknown});
  }
  if (writes_.empty()) return read();
  step_ = Step::compare;
  Requests requests = identity_requests();
  for (const Write& one : writes_) {
    requests.push_back(mad::block_request(mad::Method::get, destination_of(one.repair.table),
                                          one.repair.block, {}, query_options()));
  }
  return requests;
}

PortProbe::Requests PortProbe::write(std::span<const Answer> answers) {
  const size_t askers = answers.size() - writes_.size();
  const auto whose = answers.first(askers);
  const auto not_port = port_mismatch(whose);
  const auto not_leaf = switch_port_ ? switch_port_mismatch(whose) : std::nullopt;
  std::vector<Write> kept;
  for (size_t i = 0; i < writes_.size(); ++i) {
    const Repair& repair = writes_[i].repair;
    const auto now = mad::parse_outcome<mad::PKeyBlock>(answers[askers + i], mad::parse_pkey_block);
    auto why = repair.table == Repair::Table::switch_port ? not_leaf : not_port;
    if (!why && mad::failure_of(now) != nullptr) why = probe_error(*mad::failure_of(now));
    const uint16_t places = entries_of(repair.table);
    const auto was = within(repair.expected, repair.block, places);
    if (!why && within(*mad::value_of(now), repair.block, places) != was)
      why = ProbeError{ProbeFailure::changed};
    if (why) {
      fail(*why);
    } else {
      kept.push_back(writes_[i]);
    }
  }
  writes_ = std::move(kept);
  if (writes_.empty()) return read();
  step_ = Step::write;
  Requests requests;
  for (const auto& [repair, unanswered] : writes_) {
    requests.push_back(mad::block_request(mad::Method::set, destination_of(repair.table),
                                          repair.block, repair.keys, query_options()));
  }
  return requests;
}

// A write without an answer may have been carried out.
void PortProbe::written(std::span<const Answer> answers) {
  for (size_t i = 0; i < writes_.size(); ++i) {
    const mad::Failure* const failure = mad::failure_of(answers[i]);
    if (failure == nullptr) continue;
    writes_[i].unanswered = failure->reason == mad::Reason::timeout;
    if (!writes_[i].unanswered) fail(probe_error(*failure));
  }
}

PortProbe::Requests PortProbe::read() {
  step_ = Step::read;
  Requests requests = mad::table_requests({{port_.route()}, port_.partition_cap}, query_options());
  if (switch_port_) {
    const auto more = mad::table_requests(
        {destination_of(Repair::Table::switch_port), entries_of(Repair::Table::switch_port)},
        query_options());
    requests.insert(requests.end(), more.begin(), more.end());
  }
  return requests.empty() ? check({}) : requests;
}

PortProbe::Requests PortProbe::check(std::span<const Answer> answers) {
  step_ = Step::check;
  const size_t own = mad::blocks_of(port_.partition_cap);
  result_.table = table_read(answers.first(own), port_.partition_cap);
  if (switch_port_)
    result_.switch_port->table =
        table_read(answers.subspan(own), entries_of(Repair::Table::switch_port));
  return identity_requests();
}

void PortProbe::take_table(std::span<const Answer> answers) {
  if (const auto why = port_mismatch(answers)) result_.table = *why;
  if (switch_port_) take_switch_table(answers);
}

void PortProbe::take_switch_table(std::span<const Answer> answers) {
  SwitchPortResult& leaf = *result_.switch_port;
  if (const auto why = switch_port_mismatch(answers)) leaf.table = *why;
  if (answers.size() < 4) return;
  const auto info = mad::parse_outcome<mad::PortInfo>(answers[3], mad::parse_port_info);
  if (const mad::Failure* const failure = mad::failure_of(info)) {
    leaf.table = probe_error(*failure);
    leaf.inbound = leaf.outbound = false;
  } else {
    leaf.inbound = mad::value_of(info)->enforces_inbound;
    leaf.outbound = mad::value_of(info)->enforces_outbound;
  }
}

// A port that answers a Get but not a Set has another M_Key.
void PortProbe::take_writes() {
  for (const auto& [repair, unanswered] : writes_) {
    if (!unanswered) continue;
    const bool at_leaf = repair.table == Repair::Table::switch_port;
    const TableOrError& table = at_leaf ? result_.switch_port->table : result_.table;
    const auto* const keys = std::get_if<ib::PKeyTable>(&table);
    if (keys == nullptr) {
      fail(std::get<ProbeError>(table));
    } else if (mad::block_of(*keys, repair.block) !=
               within(repair.keys, repair.block, entries_of(repair.table))) {
      fail({ProbeFailure::not_permitted});
    }
  }
}

}  // namespace ibpod::sm::probe
