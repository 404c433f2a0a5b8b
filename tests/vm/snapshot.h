// A snapshot: what an attachment may change on a node, as sorted lines of text. Two snapshots are
// equal when nothing is left of what happened between them.
//
// Normalised, because it changes by itself or has two spellings:
//   - no interface indexes: a device that was moved or bound again has another one;
//   - of an IPoIB hardware address only bytes 4 to 19, the port: flags and QPN change;
//   - a GUID of all zeros and one of all ones are both "none": a fresh VF has the first, and the
//     kernel takes only the second back;
//   - neither carrier nor operational state nor a port's state, LID and P_Keys (and with them an
//     interface's own P_Key): the subnet manager's, and its time's. A child's P_Key is its identity
//     and counts;
//   - no fe80::/64 addresses: the kernel makes them when an interface goes up, and takes them away;
//   - no numbers of character devices: the kernel gives the lowest free one at each bind;
//   - of IPAM folders not `last_reserved_ip.*` and `lock`, which host-local keeps without a lease;
//   - two MTUs of an IPoIB interface in datagram mode are "own": its port's (4092) until it first
//     joins its broadcast group, the group's (2044) from then on. The kernel itself gives them, and
//     no order raises it again. Any other MTU counts.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/ib/guid.h"
#include "lib/ip/prefix.h"
#include "lib/nl/rtnl.h"

#include <string>
#include <vector>

namespace ibpod::vm {

struct ObservedPaths {
  Path sys{"/sys"};
  Path namespaces{"/run/netns"};
  Path mounts{"/proc/self/mountinfo"};
  Path attachments{"/var/lib/ibpod/attachments"};
  Path addresses{"/var/lib/ibpod/addresses"};
  std::vector<Path> files;  // files, and folders with all that is below them
};

// Needs root.
Result<std::vector<std::string>> snapshot(const ObservedPaths& paths);

// "- line" for what is gone, "+ line" for what is new; empty where both are equal. Both are sorted.
std::string difference(const std::vector<std::string>& before,
                       const std::vector<std::string>& after);

// The pieces, for their test.
std::string guid_text(ib::Guid guid);
std::string hardware_address_text(const nl::HardwareAddress& address);
std::string mtu_text(const nl::Link& link);
bool counts(const ip::Prefix& address);
bool counts(const Path& file);
// `where`: the namespace's name. `parent`: the name of the link it is a child of, or empty.
std::string link_line(const std::string& where, const nl::Link& link, const std::string& parent,
                      const std::vector<nl::LinkAddress>& addresses);
std::string vf_line(const std::string& pf, const nl::VfSettings& settings);
// One line for each file that counts, with a hash of its content.
Result<std::vector<std::string>> file_lines(const Path& path);
// One line for each empty folder in this one. A device's has to go with its last record, and an
// attachment's with the last address that it owes; how IPAM keeps its folders is its own business.
Result<std::vector<std::string>> empty_folder_lines(const Path& path);
// The mount points of namespaces.
std::vector<std::string> mount_lines(const std::string& mountinfo);

}  // namespace ibpod::vm
