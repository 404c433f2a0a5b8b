#include "tests/netns/host.h"

#include <optional>
#include <thread>

#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <sched.h>
#include <sys/mount.h>

namespace ibpod {

netns::NetNs fresh_namespace() {
  std::optional<netns::NetNs> made;
  std::thread([&] {
    if (::unshare(CLONE_NEWNET) == 0) made = netns::NetNs::current().value();
  }).join();
  return std::move(made.value());
}

Mounts::Mounts(const std::function<void()>& set_up) {
  std::thread([&] {
    sys("unshare", [] { return ::unshare(CLONE_NEWNS); }).value();
    sys("mount", [] {
      return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    }).value();
    set_up();
    fd_ = Fd(::open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC));
  }).join();
}

void mount_netns(const netns::NetNs& netns, const Path& file) {
  const std::string source = "/proc/self/fd/" + std::to_string(netns.fd().get());
  sys("mount", [&] {
    return ::mount(source.c_str(), file.c_str(), nullptr, MS_BIND, nullptr);
  }).value();
}

void add_pair(nl::Socket& socket) {
  nl::Message message("add a pair of links", RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.header(ifinfomsg{}).text(IFLA_IFNAME, "host0");
  message.open(IFLA_LINKINFO).text(IFLA_INFO_KIND, "veth").open(IFLA_INFO_DATA);
  message.open(VETH_INFO_PEER).header(ifinfomsg{}).text(IFLA_IFNAME, "host1").close();
  message.close().close();
  socket.send(message).value();
}

nl::Link link_named(nl::Socket& socket, const std::string& name) {
  return nl::find_link(socket, name).value().value();
}

bool there(nl::Socket& socket, const std::string& name) {
  return nl::find_link(socket, name).value().has_value();
}

}  // namespace ibpod
