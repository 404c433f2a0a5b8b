// Shared by the tests of this tier: namespaces and pairs of links.
#pragma once

#include "lib/netns/netns.h"
#include "lib/nl/rtnl.h"

#include <functional>
#include <string>

namespace ibpod {

// A network namespace that nobody else knows, gone with this object.
netns::NetNs fresh_namespace();

// A mount namespace in which `set_up` has run; what is mounted there is seen by nobody else, nor
// what is mounted elsewhere later in it.
class Mounts {
 public:
  explicit Mounts(const std::function<void()>& set_up);
  // The namespace's file, as long as this object lives.
  Path path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }

 private:
  Fd fd_;
};

// Mounts a network namespace on a file that is there.
void mount_netns(const netns::NetNs& netns, const Path& file);

// A pair of Ethernet links, "host0" and "host1" in the calling thread's namespace.
void add_pair(nl::Socket& socket);

// The link, which must be there.
nl::Link link_named(nl::Socket& socket, const std::string& name);
bool there(nl::Socket& socket, const std::string& name);

}  // namespace ibpod
