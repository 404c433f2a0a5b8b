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
// The port GUID at the end of an IPoIB hardware address; nothing for any other length than 20.
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
  std::string alias;  // IFLA_IFALIAS, what somebody has noted of it
  uint16_t type = 0;  // ARPHRD_…; ARPHRD_INFINIBAND is 32
  bool up = false;    // IFF_UP
  bool carrier = false;
  uint32_t mtu = 0;
  HardwareAddress address;
  HardwareAddress broadcast;
  // The link it is a child of (IFLA_LINK), as its own namespace counts, or nothing.
  std::optional<IfIndex> parent;
  std::string kind;            // IFLA_INFO_KIND: "ipoib", "veth" …
  std::optional<Ipoib> ipoib;  // where kind is ipoib
  // The bond or bridge that it is a port of (IFLA_MASTER), or nothing.
  std::optional<IfIndex> master;
  bool operator==(const Link&) const = default;
};
// An IPoIB child that is to be made. Its mode is datagram: see set_ipoib().
struct NewChild {
  IfIndex index{};  // its number in the parent's namespace, which nothing there has
  std::string name;
  std::string alias;  // less than 256 characters
  ib::PKey pkey;      // bit 15 does not count
  bool umcast = false;
  bool operator==(const NewChild&) const = default;
};

// Whether one is an IPoIB child of the other, both in one namespace. The index alone does not say:
// ipoib tells its parent's as the parent's namespace counts, and does not tell which one that is
// (no IFLA_LINK_NETNSID). A child has the port GUID of its parent.
bool is_ipoib_child(const Link& child, const Link& parent);

// IFLA_VF_LINK_STATE: automatic follows the PF's port.
enum class LinkPolicy : uint32_t { automatic = 0, enable = 1, disable = 2 };

// What the PF's driver was told of a VF; a GUID of zero: nothing yet.
struct VfSettings {
  VfIndex vf{};
  ib::Guid node_guid;
  ib::Guid port_guid;
  LinkPolicy policy = LinkPolicy::automatic;
  bool operator==(const VfSettings&) const = default;
};

// Codecs. `payload` is what follows the netlink header; invalid where it is no such message,
// however it is cut or garbled.
Result<Link> parse_link(Bytes payload);
Result<std::vector<VfSettings>> parse_vf_settings(Bytes payload);
// The two GUIDs travel in two IFLA_VF_INFO nests: the kernel stops reading a nest behind the first
// GUID (do_setvfinfo, docs/kernel-notes.md#two-guids-two-nests).
Message encode_set_vf_guids(IfIndex pf, VfIndex vf, ib::Guid node, ib::Guid port);
// Without IFLA_IPOIB_MODE: with it the kernel drops RTNL half way, and answers EBUSY for an
// interface that it then takes away again (docs/kernel-notes.md#ipoib-mode-drops-rtnl).
Message encode_create_child(IfIndex parent, const NewChild& child);
Message encode_move(IfIndex link, const Fd& netns, const std::string& name);

// Questions.
// By name. The kernel takes an alternative name for the name too: Link::name tells which it was.
// invalid, without asking, for what no link can be called (more than 15 characters and such).
Result<std::optional<Link>> find_link(Socket& socket, const std::string& name);
Result<std::optional<Link>> find_link(Socket& socket, IfIndex index);
Result<std::vector<Link>> links(Socket& socket);
// The VFs of a PF, without those that its driver does not describe. Asked with RTEXT_FILTER_VF |
// RTEXT_FILTER_SKIP_STATS; unsupported where the kernel cannot fit the answer (EMSGSIZE, kernels
// before the fix of rtnl_vfinfo_size with many VFs).
Result<std::vector<VfSettings>> vf_settings(Socket& socket, IfIndex pf);

// Orders. Links are named by index: udev may rename any time.
Status set_up(Socket& socket, IfIndex link, bool up);
Status set_mtu(Socket& socket, IfIndex link, uint32_t mtu);
Status rename(Socket& socket, IfIndex link, const std::string& name);
// Repeats what the kernel refuses with a passing EBUSY
// (docs/kernel-notes.md#ipoib-mode-drops-rtnl). A change of the mode changes the MTU with it.
Status set_ipoib(Socket& socket, IfIndex link, IpoibMode mode, bool umcast);
// Makes a child, in the namespace that the socket and the parent are in, and notes its alias: two
// messages, and who is killed between them leaves a child without. exists where the name or
// the index is taken.
Status create_child(Socket& socket, IfIndex parent, const NewChild& child);
Status add_altname(Socket& socket, IfIndex link, const std::string& altname);
// One that is gone is a success.
Status remove_altname(Socket& socket, IfIndex link, const std::string& altname);
// Moves the link and gives it a name there, in one message: one wait for RCU less than two. Not
// atomic: with the name taken there the answer is EEXIST and the link has moved already. With an
// empty name the link keeps its own; that being taken there, nothing moves (EEXIST).
Status move(Socket& socket, IfIndex link, const Fd& netns, const std::string& name);
// One that is gone is a success.
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
  bool failed = false;     // … and found somebody else
  bool operator==(const LinkAddress&) const = default;
};
Result<LinkAddress> parse_address(Bytes payload, IfIndex& link);
// Without the metrics. `link`: by which it goes; 0 where it goes by several, or none.
Result<Route> parse_route(Bytes payload, IfIndex& link);

Result<std::vector<LinkAddress>> addresses(Socket& socket, IfIndex link);
// Those of all tables, the kernel's own among them.
Result<std::vector<Route>> routes(Socket& socket, IfIndex link);
Status add_address(Socket& socket, IfIndex link, const ip::Prefix& address);
// The same route being there is a success. One to the same destination by another way does not stop
// it (as netlink.RouteAddEcmp of the Go library, which containernetworking's plugins use): IPv4
// takes the new one from now on, IPv6 both.
Status add_route(Socket& socket, IfIndex link, const Route& route);

}  // namespace ibpod::nl
