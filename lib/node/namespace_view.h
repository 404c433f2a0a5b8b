// NamespaceView: a network namespace with all that talks to it, each opened once and kept.
#pragma once

#include "lib/base/result.h"
#include "lib/netns/namespace_thread.h"
#include "lib/netns/netns.h"
#include "lib/nl/socket.h"
#include "lib/sysfs/sysfs.h"

#include <functional>
#include <memory>
#include <optional>

namespace ibpod::node {

// For one thread. It keeps the namespace alive.
class NamespaceView {
 public:
  // The calling thread's namespace, which it must not leave; `sysfs` shows that namespace.
  static Result<std::unique_ptr<NamespaceView>> of_own(sysfs::Sysfs sysfs);
  // Another one, in which a thread of the view works from now on.
  static Result<std::unique_ptr<NamespaceView>> of(netns::NetNs netns);

  const netns::NetNs& netns() const { return netns_; }
  const netns::Identity& identity() const { return identity_; }
  nl::Socket& route() { return *route_; }
  // These are opened by the first call that needs them, as not every call does.
  // unsupported where the kernel has no RDMA subsystem; a node may get its modules later.
  Result<nl::Socket*> rdma();
  Result<const sysfs::Sysfs*> sysfs();
  // Subscribed to changes of links; nothing before subscribe().
  nl::Socket* events() { return events_ ? &*events_ : nullptr; }
  Status subscribe();

  // Runs `work` in a thread that is in the namespace.
  Status run(const std::function<Status()>& work);

 private:
  NamespaceView(netns::NetNs netns, bool is_own);
  Status open_route();

  netns::NetNs netns_;
  std::optional<netns::NamespaceThread> thread_;  // nothing: the caller's own namespace
  netns::Identity identity_;
  std::optional<nl::Socket> route_, rdma_, events_;
  std::optional<sysfs::Sysfs> sysfs_;
};

}  // namespace ibpod::node
