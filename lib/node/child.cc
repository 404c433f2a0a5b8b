#include "lib/node/child.h"

#include "lib/base/fnv.h"
#include "lib/ib/hex.h"
#include "lib/node/queue_pair.h"
#include "lib/node/vf.h"

#include <algorithm>
#include <random>

namespace ibpod::node {
namespace {

constexpr std::string_view kPrefix = "ibpod";
constexpr size_t kDigits = 10;  // with the prefix as long as a link's name may be
// How long a dying namespace may take to give a child back. It waits for those that die before it.
constexpr Duration kReturn{10'000};
constexpr Duration kLastSearch{2'000};  // whatever the wait has left of the deadline
constexpr int kAttempts = 3;
// Above what the kernel counts to by itself, and any program would.
constexpr int kFirstIndex = 1 << 24, kLastIndex = (1 << 30) - 1;

// On the host: one that another attachment is just about to give to its pod. It may have the queue
// pair of a child that is no more, and never its index. A pod can make its own look so, with
// another index: that one is a stray (child.h).
bool is_anothers(const Child& child, const Netdev& netdev) {
  return is_child_link(netdev.name) && netdev.name != child.link && netdev.index != child.index;
}

// A pod may have changed its name, its alias, its index and the GUID in its address, but not its
// parent, its queue pair and its P_Key.
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

Result<Netdev> on_host(Kernel& kernel, const Child& child) {
  const std::optional<Netdev> found = TRY(find_in(kernel, child, kHost));
  if (found) return *found;
  return Error(Code::unavailable, child.link + " has disappeared");
}

bool is_called(const Netdev& netdev, const std::string& link) {
  return netdev.name == link || netdev.alias == link;
}

enum class Existence { gone, there, unknown };

// By the kernel's word. A child dies with its parent, and both with the function's driver.
Result<Existence> existence(Kernel& kernel, const Record& record) {
  const Child& child = *record.child;
  if (child.address.empty()) return Existence::gone;  // no pod has ever had it
  const std::optional<Function> function = TRY(kernel.function(record.device));
  if (!function || !function->driver) return Existence::gone;
  const std::vector<Netdev> masters = TRY(kernel.own_netdevs(kHost, record.device));
  if (masters.empty()) return Existence::unknown;
  const auto parent = std::find_if(masters.begin(), masters.end(), [&](const Netdev& netdev) {
    return netdev.index == child.parent;
  });
  if (parent == masters.end()) return Existence::gone;
  const std::vector<uint32_t> pairs = TRY(kernel.ipoib_queue_pairs(record.device));
  if (!has_queue_pair(pairs, *parent)) return Existence::unknown;
  return has_queue_pair(pairs, child.address) ? Existence::there : Existence::gone;
}

// One look at all there is.
struct Search {
  std::optional<ChildPlace> place;
  Existence existence = Existence::unknown;
  std::optional<Error> gap = {};  // what could not be looked at
  bool over() const { return place || existence == Existence::gone; }
};

Result<Search> search(Kernel& kernel, const Record& record, Deadline deadline) {
  Search found;
  found.existence = TRY(existence(kernel, record));
  if (found.over()) return found;
  found.gap = TRY(kernel.each_namespace(deadline, [&](const Namespace& where) -> Result<bool> {
    const std::optional<Netdev> netdev = TRY(find_in(kernel, *record.child, where));
    if (netdev) found.place = ChildPlace{where, *netdev};
    return netdev.has_value();
  }));
  return found;
}

std::string words(const Child& child) {
  return "the IPoIB child of " + child.master + " in the partition " + child.pkey.text();
}

// Nothing: it has gone.
Result<std::optional<ChildPlace>> find_hidden(Kernel& kernel, const Record& record,
                                              Deadline deadline) {
  Search found = TRY(search(kernel, record, deadline));
  if (found.over()) return found.place;
  // The last process in its namespace may be ending; the kernel then returns the child.
  TRY(wait_until(kernel, deadline.at_most(kReturn), [&]() -> Result<bool> {
    found.place = TRY(find_child(kernel, record));
    if (!found.place) found.existence = TRY(existence(kernel, record));
    return found.over();
  }));
  if (found.over()) return found.place;
  found = TRY(search(kernel, record, deadline.at_least(kLastSearch)));
  if (found.over()) return found.place;
  if (found.existence == Existence::unknown && !found.gap) return found.place;
  return Error(Code::unavailable, words(*record.child) +
                                      (found.existence == Existence::there ? " is" : " may be") +
                                      " still there, in an unreachable network namespace" +
                                      (found.gap ? " (" + found.gap->text() + ")" : "") +
                                      ": end the pod's remaining processes, or reboot the node");
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

Status move_child_to_pod(Kernel& kernel, const Record& record) {
  const Child& child = *record.child;
  const Netdev made = TRY(on_host(kernel, child));
  if (made.ipoib->mode != child.mode) {
    TRY(kernel.change_netdev(kHost, made.index, {.mode = child.mode, .umcast = child.umcast}));
  }
  TRY(kernel.move_netdev(kHost, made.index, record.netns, record.spec.ifname));
  const std::optional<Netdev> given = TRY(kernel.find_netdev(record.netns, record.spec.ifname));
  if (!given) return Error(Code::unavailable, record.spec.ifname + " has disappeared from the pod");
  return kernel.change_netdev(record.netns, given->index, {.mtu = record.spec.mtu, .up = true});
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
  for (int i = 0; i < kAttempts; ++i) {
    std::optional<ChildPlace> place = TRY(find_child(kernel, record));
    if (!place) place = TRY(find_hidden(kernel, record, deadline));
    if (!place) return ok();
    TRY(kernel.remove_netdev(place->where, place->netdev.index)
            .during("remove " + words(*record.child)));
  }
  return Error(Code::busy, words(*record.child) + " is still there after it was removed");
}

bool is_ours(const Netdev& netdev) {
  const int index = static_cast<int>(netdev.index);
  return netdev.parent && (is_child_link(netdev.alias) || is_child_link(netdev.name) ||
                           (index >= kFirstIndex && index <= kLastIndex));
}

bool is_of(const Child& child, const Netdev& netdev) {
  return netdev.index == child.index || is_child_of(child, netdev, true);
}

Status remove_child_on_host(Kernel& kernel, const std::string& link) {
  const std::vector<Netdev> all = TRY(kernel.ipoib_netdevs(kHost));
  for (const Netdev& netdev : all) {
    if (netdev.parent && is_called(netdev, link)) TRY(kernel.remove_netdev(kHost, netdev.index));
  }
  return ok();
}

Result<bool> may_child_be_in_any_namespace(Kernel& kernel, const std::string& link,
                                           Deadline deadline) {
  bool found = false;
  const auto look = [&](const Namespace& where) -> Result<bool> {
    const std::vector<Netdev> netdevs = TRY(kernel.ipoib_netdevs(where));
    found = std::any_of(netdevs.begin(), netdevs.end(),
                        [&](const Netdev& netdev) { return is_called(netdev, link); });
    return found;
  };
  const std::optional<Error> gap = TRY(kernel.each_namespace(deadline, look));
  return found || gap;
}

Status remove_child_in(Kernel& kernel, const Namespace& where, const std::string& link) {
  const std::vector<Netdev> all = TRY(kernel.ipoib_netdevs(where));
  for (const Netdev& netdev : all) {
    if (netdev.alias == link) TRY(kernel.remove_netdev(where, netdev.index));
  }
  return ok();
}

namespace {

bool is_named_by(const RecordName& name, const Netdev& netdev) {
  return netdev.name == name.folder || netdev.alias == name.folder;
}

bool is_ours_by_name(const Netdev& netdev) {
  return is_child_link(netdev.name) || is_child_link(netdev.alias);
}

// Names are a pod's to choose: they count only where the record cannot say more.
Result<bool> has_record(const Records& records, const RecordName& name, const Netdev& netdev) {
  if (!is_child_link(name.folder)) return false;
  const Result<Record> record = records.read(name);
  if (record) return record->child && is_of(*record->child, netdev);
  if (is_named_by(name, netdev)) return true;
  return record.error().code() != Code::not_found && !is_ours_by_name(netdev);
}

}  // namespace

Result<std::vector<Netdev>> stray_children(Kernel& kernel, const Records& records) {
  std::vector<Netdev> strays = TRY(kernel.ipoib_netdevs(kHost));
  std::erase_if(strays, [](const Netdev& netdev) { return !is_ours(netdev); });
  if (strays.empty()) return strays;
  // Read after that: a record is there before its child is made.
  const std::vector<RecordName> names = TRY(records.all());
  for (const RecordName& name : names) {
    for (auto netdev = strays.begin(); netdev != strays.end();) {
      const bool recorded = TRY(has_record(records, name, *netdev));
      netdev = recorded ? strays.erase(netdev) : std::next(netdev);
    }
  }
  return strays;
}

}  // namespace ibpod::node
