#include "sm/probe/port_probe.h"

#include "lib/mad/node_info.h"
#include "lib/mad/pkey_tables.h"

#include <algorithm>
#include <utility>

namespace ibpod::sm {
namespace {

using mad::Attribute;
using Answer = mad::Outcome<mad::Data>;

mad::Request question(const mad::Route& route, Attribute attribute, uint8_t port,
                      const mad::Asking& asking) {
  return {route, {.attribute = attribute, .modifier = port, .m_key = asking.m_key}, asking.terms};
}

TableRead table_read(std::span<const Answer> blocks, uint16_t places) {
  const auto table = mad::table_of(blocks, places);
  if (const mad::Failure* const failure = mad::failure_of(table)) return not_read(*failure);
  return *mad::value_of(table);
}

// What stands beyond the end of a table means nothing.
mad::PKeyBlock within(mad::PKeyBlock block, uint16_t number, uint16_t places) {
  const size_t first = number * mad::kBlockPlaces;
  const size_t count = std::clamp<size_t>(places, first, first + block.size()) - first;
  std::fill(block.begin() + static_cast<std::ptrdiff_t>(count), block.end(), ib::PKey());
  return block;
}

std::optional<NotRead> not_port(const Answer& answer, ib::Guid guid) {
  const auto info = mad::read<mad::NodeInfo>(answer, mad::parse_node_info);
  if (const mad::Failure* const failure = mad::failure_of(info)) return not_read(*failure);
  if (mad::value_of(info)->port_guid != guid) return NotRead{Unread::other_port};
  return std::nullopt;
}

}  // namespace

PortVisit::PortVisit(const fabric::SeenPort& port, const fabric::Topology& topology,
                     const VisitTerms& terms, std::vector<Repair> repairs)
    : port_(port), terms_(terms), doubtful_(topology.duplicates().contains(port.guid)) {
  for (Repair& repair : repairs) writes_.push_back({std::move(repair)});
  reading_.port = port.guid;
  if (!port.leaf || !port.leaf->enforcement) return;
  const fabric::LeafEnforcement& enforcement = *port.leaf->enforcement;
  reading_.leaf = {ib::PKeyTable(), enforcement.inbound, enforcement.outbound};
  if (topology.duplicates().contains(port.leaf->switch_guid)) {
    reading_.leaf->table = NotRead{Unread::doubtful};
  } else if (enforcement.places > ib::kMostPlaces) {
    reading_.leaf->table = NotRead{Unread::malformed};
  } else {
    leaf_ = port.leaf;
  }
}

mad::Asking PortVisit::asking() const {
  return {.terms = {terms_.urgency, Deadline::in(terms_.limit), terms_.timeout, terms_.attempts},
          .m_key = terms_.m_key};
}

mad::Place PortVisit::place_of(Repair::Table table) const {
  if (table == Repair::Table::leaf) return {leaf_->route, leaf_->port};
  return {port_.route()};
}

uint16_t PortVisit::places_of(Repair::Table table) const {
  return table == Repair::Table::leaf ? leaf_->enforcement->places : port_.places;
}

void PortVisit::fail(const NotRead& why) {
  if (!reading_.not_repaired) reading_.not_repaired = why;
}

std::vector<mad::Request> PortVisit::next(const Answers& answers) {
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
      judge(answers);
      judge_writes();
      step_ = Step::over;
      return {};
    case Step::over:
      return {};
  }
  return {};
}

// Who answers at the port's LID, and who at the switch's; and, by the path that ends with the
// switch's port, who is connected to that.
PortVisit::Requests PortVisit::who() const {
  const mad::Asking asked = asking();
  Requests requests{question(port_.route(), Attribute::node_info, 0, asked)};
  if (!leaf_) return requests;
  requests.push_back(question(leaf_->route, Attribute::node_info, 0, asked));
  if (!terms_.leaf_anew && writes_.empty()) return requests;
  requests.push_back(question(port_.path, Attribute::node_info, 0, asked));
  requests.push_back(question(leaf_->route, Attribute::port_info, leaf_->port, asked));
  return requests;
}

std::optional<NotRead> PortVisit::not_the_port(std::span<const Answer> answers) const {
  return not_port(answers[0], port_.guid);
}

std::optional<NotRead> PortVisit::not_the_leaf(std::span<const Answer> answers) const {
  auto why = not_port(answers[1], leaf_->switch_guid);
  if (!why && answers.size() > 2) why = not_port(answers[2], port_.guid);
  return why;
}

PortVisit::Requests PortVisit::compare() {
  if (doubtful_ || port_.places > ib::kMostPlaces) {
    const NotRead why{doubtful_ ? Unread::doubtful : Unread::malformed};
    reading_.table = why;
    if (reading_.leaf) reading_.leaf->table = why;
    if (!writes_.empty()) fail(why);
    step_ = Step::over;
    return {};
  }
  if (!leaf_) {
    const auto of_leaf = [](const Write& one) { return one.repair.table == Repair::Table::leaf; };
    if (std::erase_if(writes_, of_leaf) != 0) fail({Unread::port_unknown});
  }
  if (writes_.empty()) return read();
  step_ = Step::compare;
  Requests requests = who();
  for (const Write& one : writes_) {
    requests.push_back(mad::block_request(mad::Method::get, place_of(one.repair.table),
                                          one.repair.block, {}, asking()));
  }
  return requests;
}

PortVisit::Requests PortVisit::write(std::span<const Answer> answers) {
  const size_t askers = answers.size() - writes_.size();
  const auto whose = answers.first(askers);
  const auto not_port = not_the_port(whose);
  const auto not_leaf = leaf_ ? not_the_leaf(whose) : std::nullopt;
  std::vector<Write> kept;
  for (size_t i = 0; i < writes_.size(); ++i) {
    const Repair& repair = writes_[i].repair;
    const auto now = mad::read<mad::PKeyBlock>(answers[askers + i], mad::parse_pkey_block);
    auto why = repair.table == Repair::Table::leaf ? not_leaf : not_port;
    if (!why && mad::failure_of(now) != nullptr) why = not_read(*mad::failure_of(now));
    const uint16_t places = places_of(repair.table);
    const auto was = within(repair.was, repair.block, places);
    if (!why && within(*mad::value_of(now), repair.block, places) != was)
      why = NotRead{Unread::changed};
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
    requests.push_back(mad::block_request(mad::Method::set, place_of(repair.table), repair.block,
                                          repair.keys, asking()));
  }
  return requests;
}

// What has no answer may have been done all the same.
void PortVisit::written(std::span<const Answer> answers) {
  for (size_t i = 0; i < writes_.size(); ++i) {
    const mad::Failure* const failure = mad::failure_of(answers[i]);
    if (failure == nullptr) continue;
    writes_[i].unanswered = failure->reason == mad::Reason::timeout;
    if (!writes_[i].unanswered) fail(not_read(*failure));
  }
}

PortVisit::Requests PortVisit::read() {
  step_ = Step::read;
  Requests requests = mad::table_requests({{port_.route()}, port_.places}, asking());
  if (leaf_) {
    const auto more = mad::table_requests(
        {place_of(Repair::Table::leaf), places_of(Repair::Table::leaf)}, asking());
    requests.insert(requests.end(), more.begin(), more.end());
  }
  return requests.empty() ? check({}) : requests;
}

PortVisit::Requests PortVisit::check(std::span<const Answer> answers) {
  step_ = Step::check;
  const size_t own = mad::blocks_of(port_.places);
  reading_.table = table_read(answers.first(own), port_.places);
  if (leaf_)
    reading_.leaf->table = table_read(answers.subspan(own), places_of(Repair::Table::leaf));
  return who();
}

void PortVisit::judge(std::span<const Answer> answers) {
  if (const auto why = not_the_port(answers)) reading_.table = *why;
  if (leaf_) judge_leaf(answers);
}

void PortVisit::judge_leaf(std::span<const Answer> answers) {
  LeafReading& leaf = *reading_.leaf;
  if (const auto why = not_the_leaf(answers)) leaf.table = *why;
  if (answers.size() < 4) return;
  const auto info = mad::read<mad::PortInfo>(answers[3], mad::parse_port_info);
  if (const mad::Failure* const failure = mad::failure_of(info)) {
    leaf.table = not_read(*failure);
    leaf.inbound = leaf.outbound = false;
  } else {
    leaf.inbound = mad::value_of(info)->enforces_inbound;
    leaf.outbound = mad::value_of(info)->enforces_outbound;
  }
}

// A port that answers a Get and not a Set has another M_Key.
void PortVisit::judge_writes() {
  for (const auto& [repair, unanswered] : writes_) {
    if (!unanswered) continue;
    const bool at_leaf = repair.table == Repair::Table::leaf;
    const TableRead& table = at_leaf ? reading_.leaf->table : reading_.table;
    const auto* const keys = std::get_if<ib::PKeyTable>(&table);
    if (keys == nullptr) {
      fail(std::get<NotRead>(table));
    } else if (mad::block_of(*keys, repair.block) !=
               within(repair.keys, repair.block, places_of(repair.table))) {
      fail({Unread::not_permitted});
    }
  }
}

}  // namespace ibpod::sm
