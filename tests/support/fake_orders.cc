// The part of FakeKernel that changes netdevs and their addresses.
#include "tests/support/fake_kernel.h"

#include <algorithm>
#include <cerrno>

namespace ibpod::fake {
namespace {

constexpr uint32_t kSmallestMtu = 68;
constexpr uint32_t kConnectedMtu = 65520;

bool contains(const ip::Prefix& prefix, const ip::Address& address) {
  if (prefix.address.family() != address.family()) return false;
  for (size_t bit = 0; bit < prefix.length; ++bit) {
    const int mask = 0x80 >> (bit % 8);
    if (((prefix.address.bytes()[bit / 8] ^ address.bytes()[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

}  // namespace

// --- orders about netdevs

Status FakeKernel::move_netdev(const node::Namespace& from, nl::IfIndex netdev,
                               const node::Namespace& to, const std::string& name) {
  return count_order("move_netdev", [&]() -> Status {
    const int source = TRY(id_of(from));
    const int target = TRY(id_of(to));
    const Found found = TRY(find_netdev_by(source, netdev));
    return move(found, target, name);
  });
}

Status FakeKernel::change_altnames(const Found& netdev, const std::set<std::string>& wanted) {
  std::set<std::string>& altnames = netdev.interface->altnames;
  std::erase_if(altnames, [&](const std::string& altname) { return !wanted.contains(altname); });
  for (const std::string& altname : wanted) {
    if (altnames.contains(altname)) continue;
    if (taken(netdev.where, altname))
      return Error::from_errno(EEXIST, "add the altname " + altname);
    altnames.insert(altname);
  }
  return ok();
}

void FakeKernel::change_mode(Interface& interface, const node::NetdevChange& change) {
  if (interface.kind != "ipoib") return;
  if (change.umcast) interface.umcast = *change.umcast;
  if (!change.mode || *change.mode == interface.mode) return;
  interface.mode = *change.mode;
  interface.mtu = interface.mode == nl::IpoibMode::connected ? kConnectedMtu : kDatagramMtu;
}

Status FakeKernel::change_mtu(Interface& interface, uint32_t mtu) {
  const bool datagram = interface.kind == "ipoib" && interface.mode == nl::IpoibMode::datagram;
  const uint32_t largest = datagram ? port_mtu : kConnectedMtu;
  if (mtu < kSmallestMtu || mtu > largest) return Error::from_errno(EINVAL, "set the MTU");
  interface.mtu = datagram ? std::min(mtu, kDatagramMtu) : mtu;
  return ok();
}

Status FakeKernel::change_netdev(const node::Namespace& where, nl::IfIndex netdev,
                                 const node::NetdevChange& change) {
  return count_order("change_netdev", [&]() -> Status {
    const int id = TRY(id_of(where));
    Found found = TRY(find_netdev_by(id, netdev));
    Interface& interface = *found.interface;
    if (change.up == false) set_down(interface);
    if (change.altnames)
      TRY(change_altnames(found, {change.altnames->begin(), change.altnames->end()}));
    if (change.name) TRY(rename(id, found.name, *change.name));
    change_mode(interface, change);
    if (change.mtu) TRY(change_mtu(interface, *change.mtu));
    if (change.up == true) interface.up = true;
    return ok();
  });
}

Status FakeKernel::create_child(nl::IfIndex parent, const nl::NewChild& child) {
  return count_order("create_child", [&]() -> Status {
    const Found above = TRY(find_netdev_by(kHostId, parent));
    if (above.interface->kind != "ipoib" || above.interface->parent ||
        child.pkey.partition() == 0) {
      return Error::from_errno(EINVAL, "create " + child.name);
    }
    if (taken(kHostId, child.name) || find_netdev_by(kHostId, child.index))
      return Error::from_errno(EEXIST, "create " + child.name);
    add_child("", above.name, child.name, child.pkey);
    Interface& made = interface("", child.name);
    made.alias = child.alias;
    made.umcast = child.umcast;
    made.index.value = child.index;
    return ok();
  });
}

// The kernel removes children; asked to remove a device's own netdev it does nothing and says
// nothing (ipoib_del_child_link, linux/drivers/infiniband/ulp/ipoib/ipoib_netlink.c).
Status FakeKernel::remove_netdev(const node::Namespace& where, nl::IfIndex netdev) {
  return count_order("remove_netdev", [&]() -> Status {
    const int id = TRY(id_of(where));
    const Result<Found> found = find_netdev_by(id, netdev);
    if (!found) return ok();
    const bool device_s_own = found->interface->kind == "ipoib" && !found->interface->parent;
    if (!device_s_own) remove_interface(found->interface->id);
    return ok();
  });
}

// --- orders about addresses

Status FakeKernel::set_addresses(Interface& interface, const std::vector<ip::Prefix>& addresses) {
  for (const ip::Prefix& prefix : addresses) {
    const auto same = [&](const ip::Prefix& other) { return other == prefix; };
    if (std::any_of(interface.addresses.begin(), interface.addresses.end(), same)) {
      return Error::from_errno(EEXIST, "add " + prefix.text());
    }
    interface.addresses.push_back(prefix);
    const bool v6 = prefix.address.family() == ip::Family::v6;
    if (v6 && fabric.taken.contains(prefix.address)) interface.duplicates.insert(prefix);
  }
  return ok();
}

// Duplicate address detection: there is none without carrier. Whatever happens in a wait may move
// the netdev or end it.
Status FakeKernel::await_dad(Id netdev, Deadline deadline) {
  const auto is_v6 = [](const ip::Prefix& prefix) {
    return prefix.address.family() == ip::Family::v6;
  };
  bool more = true;
  while (true) {
    const std::optional<Found> found = find_by_id(netdev);
    if (!found) return Error::from_errno(ENODEV, "detect duplicate addresses");
    const Interface& now = *found->interface;
    const bool any = std::any_of(now.addresses.begin(), now.addresses.end(), is_v6);
    if (!any || (has_carrier(now) && now.duplicates.empty())) return ok();
    if (has_carrier(now)) {
      return Error(Code::exists, now.duplicates.begin()->text() +
                                     " is already in use on this link (duplicate address)");
    }
    if (!more) return Error(Code::unavailable, "IPv6 duplicate address detection has not finished");
    more = wait(deadline);
  }
}

// One that is there is a success, another one to the same destination is added.
Status FakeKernel::add_route(Interface& interface, const nl::Route& route) {
  if (!interface.up) return Error::from_errno(ENETDOWN, "add a route");
  const auto& known = interface.routes;
  if (std::find(known.begin(), known.end(), route) != known.end()) return ok();
  const auto leads = [&](const ip::Prefix& to) { return contains(to, *route.gateway); };
  const auto leads_directly = [&](const nl::Route& other) {
    return !other.gateway && leads(other.destination);
  };
  const bool reachable =
      !route.gateway ||
      std::any_of(interface.addresses.begin(), interface.addresses.end(), leads) ||
      std::any_of(interface.routes.begin(), interface.routes.end(), leads_directly);
  if (!reachable) return Error::from_errno(ENETUNREACH, "add a route");
  interface.routes.push_back(route);
  return ok();
}

Status FakeKernel::configure(const node::Namespace& where, nl::IfIndex netdev,
                             const node::Addressing& addressing, Deadline deadline) {
  return count_order("configure", [&]() -> Status {
    const int id = TRY(id_of(where));
    const Found found = TRY(find_netdev_by(id, netdev));
    TRY(set_addresses(*found.interface, addressing.addresses));
    TRY(await_dad(found.interface->id, deadline));
    const Found still = TRY(find_netdev_by(id, netdev));
    for (const nl::Route& route : addressing.routes) TRY(add_route(*still.interface, route));
    return ok();
  });
}

// Without carrier the frames are lost, and nobody says so.
Status FakeKernel::announce(const node::Namespace& where, nl::IfIndex netdev,
                            const std::vector<ip::Prefix>& addresses) {
  return count_order("announce", [&]() -> Status {
    const int id = TRY(id_of(where));
    const Found found = TRY(find_netdev_by(id, netdev));
    const node::Netdev now = link(found.name, *found.interface);
    if (!now.up) return Error::from_errno(ENETDOWN, "announce on " + found.name);
    if (!now.carrier) return ok();
    for (const ip::Prefix& prefix : addresses)
      announced.push_back({where, found.name, prefix, now.address});
    return ok();
  });
}

}  // namespace ibpod::fake
