// Links, their addresses and routes, VF settings and IPoIB children over NETLINK_ROUTE.
// Codecs (encode_…, parse_…) are pure; the verbs below them send and receive.
#pragma once

#include "lib/ib/guid.h"
#include "lib/ib/pkey.h"
#include "lib/ip/prefix.h"
#include "lib/nl/message.h"
#include "lib/nl/socket.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::nl {

enum class IfIndex : int32_t {};
enum class VfIndex : uint32_t {};

// A link-layer address; 20 bytes on IPoIB: flags and QPN (4), then the GID (16), RFC 4391
// section 9.1.1.
using HardwareAddress = std::vector<uint8_t>;
std::string text(const HardwareAddress& address);
// The port GUID at the end of an IPoIB hardware address; nothing if the length is not 20.
std::optional<ib::Guid> guid_of(const HardwareAddress& address);

enum class IpoibMode : uint16_t {
  datagram = 0,
  connected = 1
};  // IFLA_IPOIB_MODE, uapi/linux/if_link.h

struct Ipoib {
  ib::PKey pkey;
  IpoibMode mode = IpoibMode::datagram;
  bool umcast = false;
  bool operator==(const Ipoib&) const = default;
};

struct Link {
  IfIndex index{};
  std::string name;
  std::vector<std::string> altnames;
  std::string alias;  // IFLA_IFALIAS, a free-form note
  uint16_t type = 0;  // ARPHRD_…; ARPHRD_INFINIBAND is 32
  bool up = false;    // IFF_UP
  bool carrier = false;
  uint32_t mtu = 0;
  HardwareAddress address;
  HardwareAddress broadcast;
  // The parent link (IFLA_LINK), by its index in the parent's namespace, or nothing.
  std::optional<IfIndex> parent;
  std::string kind;            // IFLA_INFO_KIND: "ipoib", "veth" …
  std::optional<Ipoib> ipoib;  // if kind is ipoib
  // The bond or bridge of this port (IFLA_MASTER), or nothing.
  std::optional<IfIndex> master;
  bool operator==(const Link&) const = default;
};
// An IPoIB child to create. Its mode is datagram: see set_ipoib().
struct NewChild {
  IfIndex index{};  // its index, free in the parent's namespace
  std::string name;
  std::string alias;  // less than 256 characters
  ib::PKey pkey;      // bit 15 is ignored
  bool umcast = false;
  bool operator==(const NewChild&) const = default;
};

// True if one is an IPoIB child of the other, both in one namespace. The index alone is not enough:
// ipoib reports the parent's index in an unnamed namespace (no IFLA_LINK_NETNSID). A child has the
// port GUID of its parent.
bool is_ipoib_child(const Link& child, const Link& parent);

// IFLA_VF_LINK_STATE: automatic follows the PF's port.
enum class LinkPolicy : uint32_t { automatic = 0, enable = 1, disable = 2 };

// A VF's settings in the PF's driver; a GUID of zero was never set.
struct VfSettings {
  VfIndex vf{};
  ib::Guid node_guid;
  ib::Guid port_guid;
  LinkPolicy policy = LinkPolicy::automatic;
  bool operator==(const VfSettings&) const = default;
};

// Codecs. `payload` follows the netlink header; invalid if it is not such a message, however it is
// cut or garbled.
Result<Link> parse_link(Bytes payload);
Result<std::vector<VfSettings>> parse_vf_settings(Bytes payload);
// The two GUIDs go into two IFLA_VF_INFO nests: the kernel stops reading a nest after the first
// GUID (do_setvfinfo, docs/kernel-notes.md#two-guids-two-nests).
Message encode_set_vf_guids(IfIndex pf, VfIndex vf, ib::Guid node, ib::Guid port);
// Without IFLA_IPOIB_MODE: with it the kernel drops RTNL half way, and returns EBUSY for an
// interface that it then removes (docs/kernel-notes.md#ipoib-mode-drops-rtnl).
Message encode_create_child(IfIndex parent, const NewChild& child);
Message encode_move(IfIndex link, const Fd& netns, const std::string& name);

// Queries. By name: the kernel accepts an alternative name too, and Link::name has the real one.
// invalid, without asking, for a name that no link can have (more than 15 characters and such).
Result<std::optional<Link>> find_link(Socket& socket, const std::string& name);
Result<std::optional<Link>> find_link(Socket& socket, IfIndex index);
Result<std::vector<Link>> links(Socket& socket);
// The VFs of a PF that its driver describes. Uses RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS;
// unsupported if the kernel cannot fit the answer (EMSGSIZE, kernels before the fix of
// rtnl_vfinfo_size with many VFs).
Result<std::vector<VfSettings>> vf_settings(Socket& socket, IfIndex pf);

// Changes. Links are named by index, because udev may rename them.
Status set_up(Socket& socket, IfIndex link, bool up);
Status set_mtu(Socket& socket, IfIndex link, uint32_t mtu);
Status rename(Socket& socket, IfIndex link, const std::string& name);
// Retries the kernel's temporary EBUSY (docs/kernel-notes.md#ipoib-mode-drops-rtnl). A change of
// the mode changes the MTU too.
Status set_ipoib(Socket& socket, IfIndex link, IpoibMode mode, bool umcast);
// Creates a child in the namespace of the socket and the parent, and sets its alias: two messages,
// so that a kill between them leaves a child without one. exists if the name or the index is taken.
Status create_child(Socket& socket, IfIndex parent, const NewChild& child);
Status add_altname(Socket& socket, IfIndex link, const std::string& altname);
// A missing name is a success.
Status remove_altname(Socket& socket, IfIndex link, const std::string& altname);
// Moves the link and renames it, in one message: one RCU wait less than two. Not atomic: if the
// name is taken there, the answer is EEXIST and the link has moved. With an empty name the link
// keeps its own; if that is taken there, nothing moves (EEXIST).
Status move(Socket& socket, IfIndex link, const Fd& netns, const std::string& name);
// A missing link is a success.
Status remove_link(Socket& socket, IfIndex link);
Status set_vf_guids(Socket& socket, IfIndex pf, VfIndex vf, ib::Guid node, ib::Guid port);
Status set_vf_policy(Socket& socket, IfIndex pf, VfIndex vf, LinkPolicy policy);

struct Route {
  ip::Prefix destination;  // 0.0.0.0/0 or ::/0: the default route
  std::optional<ip::Address> gateway;
  std::optional<uint32_t> mtu;
  std::optional<uint32_t> advmss;
  std::optional<uint32_t> priority;
  std::optional<uint32_t> table;  // main (254) where absent
  std::optional<uint8_t> scope;   // RT_SCOPE_…; link where there is no gateway, universe else
  bool operator==(const Route&) const = default;
};

struct LinkAddress {
  ip::Prefix prefix;
  bool tentative = false;  // IPv6 duplicate address detection still runs
  bool failed = false;     // … and found a duplicate
  bool operator==(const LinkAddress&) const = default;
};
Result<LinkAddress> parse_address(Bytes payload, IfIndex& link);
// Without the metrics. `link`: its output link; 0 if it has several, or none.
Result<Route> parse_route(Bytes payload, IfIndex& link);

Result<std::vector<LinkAddress>> addresses(Socket& socket, IfIndex link);
// The routes of all tables, with the kernel's own.
Result<std::vector<Route>> routes(Socket& socket, IfIndex link);
Status add_address(Socket& socket, IfIndex link, const ip::Prefix& address);
// An existing equal route is a success. A route to the same destination by another way stays, as in
// netlink.RouteAddEcmp of the Go library: IPv4 uses the new one from then on, IPv6 both.
Status add_route(Socket& socket, IfIndex link, const Route& route);

// Enables IPv6 on the link and on lo in the calling thread's namespace
// (net.ipv6.conf.LINK.disable_ipv6), if it is off. Success on a kernel without IPv6, which refuses
// the addresses itself.
Status enable_ipv6(const std::string& link);

}  // namespace ibpod::nl
