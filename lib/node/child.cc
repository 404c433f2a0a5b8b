#include "lib/node/child.h"

#include "lib/base/fnv.h"
#include "lib/ib/hex.h"

#include <algorithm>
#include <random>

namespace ibpod::node {
namespace {

constexpr std::string_view kPrefix = "ibpod";
constexpr size_t kDigits = 10;  // with the prefix as long as a link's name may be
// How long a dying namespace may take to give a child back. It waits for those that die before it.
constexpr Duration kReturn{10'000};
constexpr int kAttempts = 3;
// Above what the kernel counts to by itself, and any program would.
constexpr int kFirstIndex = 1 << 24, kLastIndex = (1 << 30) - 1;

// Bytes 1 to 3 of an IPoIB hardware address: no two interfaces of a port have one queue pair.
std::string queue_pair_of(const nl::HardwareAddress& address) {
  return address.size() < 4 ? "" : std::string(address.begin() + 1, address.begin() + 4);
}

// On the host: one that another attachment is just about to give to its pod. It may have the queue
// pair of a child that is no more.
bool is_anothers(const Child& child, const Netdev& netdev) {
  return is_child_link(netdev.name) && netdev.name != child.link;
}

// A pod may have changed its name, its alias and the GUID in its address, but not its parent, its
// queue pair and its P_Key.
bool is_child_of(const Child& child, const Netdev& netdev, bool on_host) {
  // In a pod a child may look like none: where its index happens to be that of its parent on the
  // host, the kernel leaves IFLA_LINK out.
  const nl::IfIndex parent =
      on_host ? netdev.parent.value_or(nl::IfIndex{}) : netdev.parent.value_or(netdev.index);
  if (parent != child.parent || !netdev.ipoib->pkey.same_partition(child.pkey)) return false;
  if (child.address.empty()) return on_host && netdev.index == child.index;
  const bool same = queue_pair_of(child.address) == queue_pair_of(netdev.address);
  return same && !(on_host && is_anothers(child, netdev));
}

Result<std::optional<Netdev>> find_in(Kernel& kernel, const Child& child, const Namespace& where) {
  const std::vector<Netdev> all = TRY(kernel.ipoib_netdevs(where));
  const auto found = std::find_if(all.begin(), all.end(), [&](const Netdev& netdev) {
    return is_child_of(child, netdev, where.is_host());
  });
  return found == all.end() ? std::optional<Netdev>() : std::optional(*found);
}

Result<bool> pod_is_there(Kernel& kernel, const Record& record) {
  const std::optional<Namespace> now = TRY(kernel.find_namespace(record.netns.path));
  return now == record.netns;
}

// One that had been made, and whose pod is gone: where nobody has it, the kernel is giving it back.
Result<bool> is_returning(Kernel& kernel, const Record& record) {
  if (record.child->address.empty()) return false;
  const bool pod = TRY(pod_is_there(kernel, record));
  return !pod;
}

Result<Netdev> on_host(Kernel& kernel, const Child& child) {
  const std::optional<Netdev> found = TRY(find_in(kernel, child, kHost));
  if (found) return *found;
  return Error(Code::unavailable, child.link + " has disappeared");
}

bool is_called(const Netdev& netdev, const std::string& link) {
  return netdev.name == link || netdev.alias == link;
}

}  // namespace

std::string child_link(const std::string& container_id, const std::string& ifname) {
  const std::string digits = ib::hex(fnv1a(container_id + ":" + ifname), 16);
  return std::string(kPrefix) + digits.substr(digits.size() - kDigits);
}

bool is_child_link(std::string_view name) {
  return name.size() == kPrefix.size() + kDigits && name.starts_with(kPrefix) &&
         name.substr(kPrefix.size()).find_first_not_of("0123456789abcdef") == name.npos;
}

nl::IfIndex choose_index() {
  std::random_device random;
  return nl::IfIndex{std::uniform_int_distribution<int>(kFirstIndex, kLastIndex)(random)};
}

Result<Netdev> make_child(Kernel& kernel, const Record& record) {
  const Child& child = *record.child;
  TRY(kernel.create_child(child.parent, {.index = child.index,
                                         .name = child.link,
                                         .alias = child.link,
                                         .pkey = child.pkey,
                                         .umcast = child.umcast}));
  return on_host(kernel, child);
}

Status give_child(Kernel& kernel, const Record& record) {
  const Child& child = *record.child;
  const Netdev made = TRY(on_host(kernel, child));
  if (made.ipoib->mode != child.mode) {
    TRY(kernel.change_netdev(kHost, made.index, {.mode = child.mode, .umcast = child.umcast}));
  }
  TRY(kernel.move_netdev(kHost, made.index, record.netns, record.wanted.ifname));
  const std::optional<Netdev> given = TRY(kernel.find_netdev(record.netns, record.wanted.ifname));
  if (!given)
    return Error(Code::unavailable, record.wanted.ifname + " has disappeared from the pod");
  return kernel.change_netdev(record.netns, given->index, {.mtu = record.wanted.mtu, .up = true});
}

Result<std::optional<ChildPlace>> find_child(Kernel& kernel, const Record& record) {
  const bool pod = TRY(pod_is_there(kernel, record));
  if (pod) {
    const std::optional<Netdev> inside = TRY(find_in(kernel, *record.child, record.netns));
    if (inside) return std::optional(ChildPlace{record.netns, *inside});
  }
  const std::optional<Netdev> outside = TRY(find_in(kernel, *record.child, kHost));
  if (outside) return std::optional(ChildPlace{kHost, *outside});
  return std::optional<ChildPlace>();
}

Status remove_child(Kernel& kernel, const Record& record, Deadline deadline) {
  std::optional<ChildPlace> place;
  const auto look = [&]() -> Result<bool> {
    place = TRY(find_child(kernel, record));
    return place.has_value();
  };
  bool there = TRY(look());
  if (!there) {
    const bool returning = TRY(is_returning(kernel, record));
    if (returning) there = TRY(wait_until(kernel, deadline.at_most(kReturn), look));
  }
  const std::string child = "the IPoIB child of " + record.child->master;
  for (int i = 0; i < kAttempts && there; ++i) {
    TRY(kernel.remove_netdev(place->where, place->netdev.index).during("remove " + child));
    there = TRY(look());
  }
  return there ? Error(Code::busy, child + " is still there after it was removed") : ok();
}

Result<std::vector<std::string>> children_on_host(Kernel& kernel) {
  const std::vector<Netdev> all = TRY(kernel.ipoib_netdevs(kHost));
  std::vector<std::string> links;
  for (const Netdev& netdev : all) {
    if (!netdev.parent) continue;
    if (is_child_link(netdev.alias))
      links.push_back(netdev.alias);
    else if (is_child_link(netdev.name))
      links.push_back(netdev.name);
  }
  std::sort(links.begin(), links.end());
  return links;
}

Status remove_child_on_host(Kernel& kernel, const std::string& link) {
  const std::vector<Netdev> all = TRY(kernel.ipoib_netdevs(kHost));
  for (const Netdev& netdev : all) {
    if (netdev.parent && is_called(netdev, link)) TRY(kernel.remove_netdev(kHost, netdev.index));
  }
  return ok();
}

Status remove_child_in(Kernel& kernel, const Namespace& where, const std::string& link) {
  const std::vector<Netdev> all = TRY(kernel.ipoib_netdevs(where));
  for (const Netdev& netdev : all) {
    if (netdev.alias == link) TRY(kernel.remove_netdev(where, netdev.index));
  }
  return ok();
}

}  // namespace ibpod::node
