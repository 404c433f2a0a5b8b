#include "tests/support/ufm/rules.h"

#include "lib/ib/hex.h"

#include <algorithm>

namespace ibpod::fake_ufm {
namespace {

Outcome refuse(int status, std::string text) {
  return Outcome{.status = status, .text = std::move(text)};
}

Outcome no_partition(ib::PKey pkey) { return refuse(404, "PKey " + pkey.text() + " not found"); }

// UFM's: unpadded.
std::string default_name(ib::PKey pkey) {
  std::string digits = ib::hex(pkey.value(), 4);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return "api_pkey_0x" + digits;
}

bool has_index0_elsewhere(const Partitions& partitions, ib::PKey pkey, ib::Guid guid) {
  return std::any_of(partitions.begin(), partitions.end(), [&](const auto& entry) {
    const auto member = entry.second.members.find(guid);
    return entry.first != pkey && member != entry.second.members.end() && member->second.index0;
  });
}

std::optional<Outcome> check_write(const Call& call) {
  if (call.pkey == kManagement) return refuse(400, "PKey 0x7fff (management) is read only");
  if (call.pkey.value() == 0 || call.pkey.value() > kManagement.value())
    return refuse(400, "PKey " + call.pkey.text() + " is out of the range 0x1 to 0x7ffe");
  return std::nullopt;
}

// Members by the order in which they were sent.
struct Addition {
  ib::Guid guid;
  Member member;
};

std::vector<Addition> additions_of(const Call& call, bool honors_memberships) {
  std::vector<Addition> additions;
  for (size_t i = 0; i < call.guids.size(); ++i) {
    Member member{call.membership.value_or(ib::Membership::full), call.index0.value_or(false)};
    if (honors_memberships && !call.memberships.empty()) member.membership = call.memberships[i];
    additions.push_back({call.guids[i], member});
  }
  return additions;
}

std::optional<Outcome> check_members(const Call& call, bool honors_memberships) {
  if (call.guids.empty()) return refuse(400, "guids: a list of GUIDs is required");
  if (honors_memberships && !call.memberships.empty() &&
      call.memberships.size() != call.guids.size())
    return refuse(400, "memberships: must have as many entries as guids");
  if (honors_memberships && !call.memberships.empty() && call.membership)
    return refuse(400, "membership and memberships exclude each other");
  return std::nullopt;
}

std::optional<Outcome> check_guid(const Addition& addition, ib::PKey pkey, const Switches& switches,
                                  const std::set<ib::Guid>& known, const Partitions& partitions) {
  const std::string guid = ib::hex(addition.guid.value(), 16);
  if (addition.guid.none()) return refuse(400, "GUID " + guid + " is invalid");
  if (!switches.accepts_unknown_guids && !known.contains(addition.guid))
    return refuse(404, "GUID " + guid + " not found");
  if (switches.index0_once && addition.member.index0 &&
      has_index0_elsewhere(partitions, pkey, addition.guid))
    return refuse(400, "GUID " + guid + " has index 0 in another PKey");
  return std::nullopt;
}

// Adds up to the first one that is refused.
Outcome add_members(const Call& call, const std::vector<Addition>& additions,
                    const Switches& switches, const std::set<ib::Guid>& known,
                    Partitions& partitions, Partition& partition) {
  for (const Addition& addition : additions) {
    if (auto refusal = check_guid(addition, call.pkey, switches, known, partitions))
      return *refusal;
    partition.members[addition.guid] = addition.member;
  }
  return {};
}

Outcome store(const Call& call, Partition partition, const Outcome& added, const Switches& switches,
              Partitions& partitions) {
  if (!added.ok() && (switches.atomic || partition.members.empty())) return added;
  partitions[call.pkey] = std::move(partition);
  return added;
}

Outcome post(const Call& call, const Switches& switches, const std::set<ib::Guid>& known,
             Partitions& partitions) {
  const bool honors = switches.post_honors_memberships;
  if (auto refusal = check_members(call, honors)) return *refusal;
  const auto found = partitions.find(call.pkey);
  const bool exists = found != partitions.end();
  if (!exists && !switches.post_creates) return no_partition(call.pkey);
  Partition partition = exists ? found->second : Partition{default_name(call.pkey)};
  if (!exists || switches.post_overwrites_ip_over_ib)
    partition.ip_over_ib = call.ip_over_ib.value_or(true);
  if (!exists) partition.name = call.partition_name.value_or(partition.name);
  const Outcome added =
      add_members(call, additions_of(call, honors), switches, known, partitions, partition);
  return store(call, std::move(partition), added, switches, partitions);
}

// Members and flags are those of this call alone; the name stays.
Outcome put(const Call& call, const Switches& switches, const std::set<ib::Guid>& known,
            Partitions& partitions) {
  if (auto refusal = check_members(call, true)) return *refusal;
  const auto found = partitions.find(call.pkey);
  Partition partition{default_name(call.pkey)};
  if (found != partitions.end()) {
    partition.name = found->second.name;
    partition.qos = found->second.qos;
  }
  partition.name = call.partition_name.value_or(partition.name);
  partition.ip_over_ib = call.ip_over_ib.value_or(true);
  const Outcome added =
      add_members(call, additions_of(call, true), switches, known, partitions, partition);
  return store(call, std::move(partition), added, switches, partitions);
}

Outcome add_empty(const Call& call, const Switches& switches, Partitions& partitions) {
  if (partitions.contains(call.pkey))
    return refuse(switches.exists_status, "PKey " + call.pkey.text() + " already exists");
  Partition partition{call.partition_name.value_or(default_name(call.pkey))};
  partition.ip_over_ib = call.ip_over_ib.value_or(true);
  partition.qos = call.qos.value_or(Qos{});
  partitions[call.pkey] = std::move(partition);
  return Outcome{.status = switches.created_status};
}

// A partition that was made empty stays until a removal empties it.
Outcome remove_guids(const Call& call, const Switches& switches, Partitions& partitions) {
  if (call.guids.empty()) return refuse(400, "guids: a list of GUIDs is required");
  const auto found = partitions.find(call.pkey);
  if (found == partitions.end()) return no_partition(call.pkey);
  size_t removed = 0;
  for (const ib::Guid guid : call.guids) removed += found->second.members.erase(guid);
  if (removed > 0 && found->second.members.empty() && switches.removal_of_last_deletes)
    partitions.erase(found);
  return {};
}

Outcome read(const Call& call, const Switches& switches, const Partitions& partitions) {
  const auto found = partitions.find(call.pkey);
  if (found != partitions.end()) return Outcome{.partitions = {*found}};
  return switches.missing_is_404 ? no_partition(call.pkey) : Outcome{};
}

}  // namespace

Outcome apply(const Call& call, const Switches& switches, const std::set<ib::Guid>& known,
              Partitions& partitions) {
  if (!is_of_pkeys(call.operation)) return {};
  if (call.operation == Operation::list) return Outcome{.partitions = partitions};
  if (call.operation == Operation::read) return read(call, switches, partitions);
  if (auto refusal = check_write(call)) return *refusal;
  switch (call.operation) {
    case Operation::post:
      return post(call, switches, known, partitions);
    case Operation::put:
      return put(call, switches, known, partitions);
    case Operation::add_empty:
      return add_empty(call, switches, partitions);
    case Operation::remove_guids:
    case Operation::remove_guids_action:
      return remove_guids(call, switches, partitions);
    default:
      break;
  }
  const auto found = partitions.find(call.pkey);
  if (found == partitions.end()) return no_partition(call.pkey);
  if (call.operation == Operation::delete_partition)
    partitions.erase(found);
  else
    found->second.qos = call.qos.value_or(Qos{});
  return {};
}

}  // namespace ibpod::fake_ufm
