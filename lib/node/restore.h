// restore(): puts a VF back to the original state in its record, whatever state it is in now. One
// of its steps, the move of the devices to the host's namespace, is return_to_host()
// (return_to_host.h).
#pragma once

#include "lib/node/kernel.h"
#include "lib/node/record.h"

namespace ibpod::node {

// Compares the node with the record and puts back what differs: devices home from the pod (fetched
// by unbind and bind where no path leads to them), GUIDs, link policy, names, MTU, mode, the IPoIB
// children of the pod removed. Reads back in the end: success means that the VF carries nothing of
// the pod any more. Idempotent; call it again after any failure or kill. After a kill in a bind or
// a move it binds the VF once more: `write` keeps Record::rebind_pending on disk meanwhile; if that
// fails, as on a full disk, the VF comes home all the same. The caller holds the folder's lock. A
// function that has been taken out of the machine counts as restored. If another device holds a
// name, it waits and then gives the name up: a missing name matters less than a missing VF.
Status restore(Kernel& kernel, Record& record, const WriteRecord& write, Deadline deadline);

// Cleans a VF whose record cannot be read: home by unbind and bind, and without any GUID, so that
// neither a key nor a GUID of the last pod is left on it. Nothing is on disk meanwhile.
Status clear_identity(Kernel& kernel, const ib::PciAddress& device, Deadline deadline);

// Only that step: moves the function's devices in the namespace `where` to the host's, for an
// attachment without a record. Writes nothing to disk meanwhile.
Status return_to_host_from(Kernel& kernel, const Namespace& where, const ib::PciAddress& device,
                           Deadline deadline);

// True if anything on the VF is of this attachment: devices in the very namespace that the record
// names, or the GUIDs that the pod was to have. After a boot nothing is: namespaces have ended, the
// VF is made again and its PF's driver has forgotten its GUIDs. The VF then has the values of this
// boot, not those in the record. (The boot id can change without a boot: a container that a node
// runs in brings its own.)
Result<bool> has_traces(Kernel& kernel, const Record& record);

enum class Liveness {
  live,     // its namespace is under its path
  dead,     // of another boot; or DEL has come; or the path is gone, or leads to another namespace
  unknown,  // the path cannot say it (netns::NetnsStatus::unclear): to be treated as live
};
// Finds out if the record's pod can still be there. An error says nothing about it.
Result<Liveness> liveness(Kernel& kernel, const Record& record, const std::string& boot_id);

}  // namespace ibpod::node
