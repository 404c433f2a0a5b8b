// An IPoIB child on its way into a pod, and its end. It is made on the host, under a name that no
// other attachment has, and moved (enhanced IPoIB of mlx5 can have it no other way).
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/node/kernel.h"
#include "lib/node/record.h"
#include "lib/node/records.h"

#include <string>
#include <string_view>
#include <vector>

namespace ibpod::node {

// The name of an attachment's child on the host: "ibpod" and ten digits, the same for the same
// attachment.
std::string child_link(const std::string& container_id, const std::string& ifname);
// True if a name is of that form.
bool is_child_link(std::string_view name);

// A number for a child on the host that no other link has, as far as chance goes. The kernel counts
// its own from 1 up.
nl::IfIndex choose_index();

// Makes the child that the record wants, on the host, in datagram mode and with the largest MTU
// that the port has in it. The record is on disk without the child's hardware address before this
// is called, and with it before move_child_to_pod(): on the host a child is known by its index, and
// later by its address, whatever a pod has made of its names. exists where the index is taken.
Result<Netdev> make_child(Kernel& kernel, const Record& record);

// Sets its mode and MTU, and gives it to the pod: under its name there, up.
Status move_child_to_pod(Kernel& kernel, const Record& record);

// The record's child where it is now, in the pod or on the host; nothing where it is in neither,
// which does not mean that it is gone.
struct ChildPlace {
  Namespace where;
  Netdev netdev;
};
Result<std::optional<ChildPlace>> find_child(Kernel& kernel, const Record& record);

// Ends the child, wherever a pod has taken it: in the record's namespaces, or in any other that the
// node has; one that a dying namespace is just giving back is waited for. Idempotent. Success says
// that it is gone by the kernel's own word (Kernel::ipoib_queue_pairs), or, where the kernel does
// not tell, that no namespace has it. unavailable where it is somewhere and cannot be found: it
// goes on in its partition. For records of this boot: no child outlives one.
Status remove_child(Kernel& kernel, const Record& record, Deadline deadline);

// True if an interface of the host is a child of ours: by its name or its alias, or by its index,
// which is above all that the kernel gives. A pod may have changed each of them.
bool is_ours(const Netdev& netdev);
// True if an interface of the host is the record's child: by its index, or by the properties that
// no pod can change.
bool is_of(const Child& child, const Netdev& netdev);
// Removes the one of that link from the host; success where there is none.
Status remove_child_on_host(Kernel& kernel, const std::string& link);
// The same in a pod, for an attachment without record: there the alias has to say whose it is.
Status remove_child_in(Kernel& kernel, const Namespace& where, const std::string& link);
// True if another namespace than the host's has it, by its name or alias, or may have it: not all
// of them could be searched before the deadline.
Result<bool> may_child_be_in_any_namespace(Kernel& kernel, const std::string& link,
                                           Deadline deadline);

// Those that no record speaks of (is_ours() in child.h): by index or queue pair (is_of()), whatever
// their names, which a pod may have taken from another record. While a record of a child cannot be
// read, those alone whose name or alias no record has: the others may be that one's.
Result<std::vector<Netdev>> stray_children(Kernel& kernel, const Records& records);

}  // namespace ibpod::node
