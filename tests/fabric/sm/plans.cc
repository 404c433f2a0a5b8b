#include "tests/fabric/sm/plans.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <sstream>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using fabric::Membership;
using fabric::Partition;

// A member that the subnet has not got. Its partition cannot go, so there is one of them.
constexpr ib::Guid kAbsent{0x0002c90300a1b2c3};
constexpr auto kOfAbsent = "p6";

std::string text_of(const Error& error) {
  return std::string(name(error.code())) + ": " + error.text();
}

template <typename Value>
std::string why_not(const Result<Value>& result) {
  return result ? "" : text_of(result.error());
}

bool seen_since(const SmFixture& fixture, fabric::WallTime since) {
  for (unsigned host = 0; host < kHosts; host += 2) {
    const auto explained = fixture.client().explain(
        {{guid_of(host).text(), guid_of(host + 1).text()}}, SmFixture::deadline_in());
    REQUIRE(explained);
    for (const auto& subject : explained->subjects)
      if (subject.seen < since) return false;
  }
  return true;
}

bool in_force(const SmFixture& fixture) {
  const auto health = fixture.client().health(SmFixture::deadline_in());
  REQUIRE(health);
  std::istringstream words(health->engine());
  std::string serving, version, swept, of, told;
  words >> serving >> version >> swept >> of >> told;
  return serving == "serving:" && swept == told;
}

// Keys with the places that a plan is sure of are there, the others somewhere else, and no more.
bool holds(const ib::PKeyTable& table, const std::string& planned) {
  ib::PKeyTable left = table;
  std::istringstream words(planned);
  std::vector<ib::PKey> anywhere;
  for (std::string word; words >> word;) {
    const size_t colon = word.find(':');
    const ib::PKey key(static_cast<uint16_t>(
        std::stoul(colon == word.npos ? word : word.substr(colon + 1), nullptr, 16)));
    if (colon == word.npos) {
      anywhere.push_back(key);
      continue;
    }
    ib::PKey& there = left.at(std::stoul(word));
    if (there != key) return false;
    there = ib::PKey();
  }
  for (const ib::PKey key : anywhere) {
    const auto found = std::find(left.begin(), left.end(), key);
    if (found == left.end()) return false;
    *found = ib::PKey();
  }
  return keys_in(left).empty();
}

bool same(const ib::PKeyTable& one, const ib::PKeyTable& other) {
  return ib::text(one) == ib::text(other);
}

}  // namespace

fabricapi::PlanRequest PlannedChange::plan() const {
  if (kind == Kind::remove) return {.partition = {}, .without = partition.name};
  return {.partition = partition, .without = {}, .update = kind == Kind::update};
}

std::string PlannedChange::make(const SmFixture& fixture) const {
  switch (kind) {
    case Kind::create:
      return why_not(fixture.client().create_partition(partition, SmFixture::deadline_in()));
    case Kind::update:
      return why_not(fixture.client().update_partition(partition, SmFixture::deadline_in()));
    case Kind::remove:
      return why_not(fixture.client().delete_partition(partition.name, SmFixture::deadline_in()));
  }
  return "";
}

Membership RandomChanges::membership() {
  constexpr std::array kAll{Membership::limited, Membership::full, Membership::both};
  return kAll.at(below(both_ ? 3 : 2));
}

void RandomChanges::change_members(Partition& partition, std::string& text) {
  const ib::Guid guid = partition.name == kOfAbsent && once_in(3) ? kAbsent : guid_of(1 + below(7));
  const auto there = std::find_if(partition.members.begin(), partition.members.end(),
                                  [&](const auto& member) { return member.guid == guid; });
  const bool leaves = there != partition.members.end() && once_in(2);
  text += (leaves ? " without " : " with ") + guid.text();
  if (there != partition.members.end()) partition.members.erase(there);
  if (leaves) return;
  partition.members.push_back({guid, membership(), ""});
  text += "=" + std::string(name(partition.members.back().membership));
}

void RandomChanges::change(Partition& partition, std::string& text) {
  const auto one = [&](const char* what) { text += std::string(" ") + what; };
  switch (below(11)) {
    case 0:
      return one("membership"), void(partition.membership = membership());
    case 1:
    case 2:
      return one("index0"), void(partition.index0 = !partition.index0);
    case 3:
      return one("allow"), void(partition.allowed = {once_in(2) ? "*" : "others"});
    case 4:
      return one("nodes"), void(partition.nodes = {once_in(2) ? "n*" : "m1"});
    case 5:
      return one("ipoib"), void(partition.ipoib = once_in(2));
    default:
      return change_members(partition, text);
  }
}

PlannedChange RandomChanges::next(const std::vector<fabric::PartitionStatus>& partitions) {
  PlannedChange made;
  const std::string name = "p" + std::to_string(below(7));
  const auto there = std::find_if(partitions.begin(), partitions.end(),
                                  [&](const auto& one) { return one.spec.name == name; });
  const bool exists = there != partitions.end() && !once_in(20);
  made.partition.name = name;
  if (exists ? once_in(6) : once_in(12)) {
    made.kind = PlannedChange::Kind::remove;
    made.text = "delete " + name;
    return made;
  }
  made.kind = exists ? PlannedChange::Kind::update : PlannedChange::Kind::create;
  made.text = (exists ? "update " : "create ") + name;
  if (exists)
    made.partition = there->spec;
  else
    made.partition.allowed = {"*"};
  if (!exists && once_in(3))
    made.partition.pkey = ib::PKey(static_cast<uint16_t>(0x1000 + below(9)));
  for (unsigned count = exists ? 1 + below(2) : below(4); count > 0; --count)
    change(made.partition, made.text);
  return made;
}

void RandomChanges::stir(SmFixture& fixture,
                         const std::vector<fabric::PartitionStatus>& partitions) {
  if (partitions.empty() || once_in(2)) return;
  const unsigned host = 1 + below(6);
  if (once_in(3))
    (void)fixture.unbind(host);
  else
    (void)fixture.bind(host, partitions[below(static_cast<unsigned>(partitions.size()))].spec.name);
}

void until_settled(SmFixture& fixture) {
  fixture.until([&] { return in_force(fixture) && fixture.all_verified(); });
  const auto now =
      std::chrono::time_point_cast<fabric::WallTime::duration>(std::chrono::system_clock::now());
  fixture.until([&] {
    const auto rest = fixture.client().plan({}, SmFixture::deadline_in());
    REQUIRE(rest);
    return rest->changed() == 0 && seen_since(fixture, now);
  });
}

std::string difference(const v1::PlanResponse& plan, const std::vector<ib::PKeyTable>& before,
                       const std::vector<ib::PKeyTable>& after) {
  std::string text;
  std::set<ib::Guid> unknown;
  for (const auto& port : plan.ports()) unknown.insert(ib::Guid(port.guid()));
  for (unsigned host = 0; host < kHosts; ++host) {
    const auto port = std::find_if(plan.ports().begin(), plan.ports().end(), [&](const auto& one) {
      return ib::Guid(one.guid()) == guid_of(host);
    });
    unknown.erase(guid_of(host));
    const bool planned = port != plan.ports().end();
    const bool right = planned ? port->before() == ib::text(before[host]) &&
                                     !same(before[host], after[host]) &&
                                     holds(after[host], port->after())
                               : same(before[host], after[host]);
    if (right) continue;
    text += "h" + std::to_string(host) + " had " + ib::text(before[host]) + ", has " +
            ib::text(after[host]) + ", and was planned ";
    text += (planned ? "from " + port->before() + " to " + port->after() : "not to change") + "\n";
  }
  unknown.erase(kAbsent);
  for (const ib::Guid guid : unknown) text += guid.text() + " was planned\n";
  return text;
}

}  // namespace ibpod
