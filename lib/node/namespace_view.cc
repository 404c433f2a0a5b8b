#include "lib/node/namespace_view.h"

#include <utility>

namespace ibpod::node {

NamespaceView::NamespaceView(netns::NetNs netns, bool is_own) : netns_(std::move(netns)) {
  if (!is_own) thread_.emplace(netns_.fd());
}

Result<std::unique_ptr<NamespaceView>> NamespaceView::of_own(sysfs::Sysfs sysfs) {
  netns::NetNs netns = TRY(netns::NetNs::current());
  std::unique_ptr<NamespaceView> view(new NamespaceView(std::move(netns), true));
  view->sysfs_.emplace(std::move(sysfs));
  TRY(view->open_route());
  return view;
}

Result<std::unique_ptr<NamespaceView>> NamespaceView::of(netns::NetNs netns) {
  std::unique_ptr<NamespaceView> view(new NamespaceView(std::move(netns), false));
  TRY(view->run([&] { return view->open_route(); }));
  return view;
}

// In the namespace. Any socket tells the namespace's cookie.
Status NamespaceView::open_route() {
  nl::Socket socket = TRY(nl::Socket::open(nl::Family::route));
  identity_ = TRY(netns_.identity_by(socket.fd()));
  route_.emplace(std::move(socket));
  return ok();
}

Result<nl::Socket*> NamespaceView::rdma() {
  if (rdma_) return &*rdma_;
  TRY(run([&]() -> Status {
    nl::Socket socket = TRY(nl::Socket::open(nl::Family::rdma));
    rdma_.emplace(std::move(socket));
    return ok();
  }));
  return &*rdma_;
}

Result<const sysfs::Sysfs*> NamespaceView::sysfs() {
  if (sysfs_) return &*sysfs_;
  TRY(run([&]() -> Status {
    sysfs::Sysfs mounted = TRY(sysfs::Sysfs::of_own_netns());
    sysfs_.emplace(std::move(mounted));
    return ok();
  }));
  return &*sysfs_;
}

Status NamespaceView::subscribe() {
  return run([&]() -> Status {
    nl::Socket socket = TRY(nl::Socket::open(nl::Family::route));
    TRY(socket.subscribe_to_links());
    events_.emplace(std::move(socket));
    return ok();
  });
}

Status NamespaceView::run(const std::function<Status()>& work) {
  return thread_ ? thread_->run(work) : work();
}

}  // namespace ibpod::node
