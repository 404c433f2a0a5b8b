// The machine as a bed: the node this runs on, as root, with nobody else at work on it. CONTRACT_VF
// is the PCI address of a VF with GUIDs, policy auto and an ACTIVE port (a subnet manager is
// running). CONTRACT_PF, where it is set, is that of a PF which the VF does not belong to.
#include "lib/base/run_on_thread.h"
#include "lib/node/linux_kernel.h"
#include "tests/contract/kernel_contract.h"
#include "tests/contract/spare_pf.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ibpod::contract {
namespace {

// The bed itself must not fail: without it nothing can be said.
void must(bool done, const std::string& what) {
  if (done) return;
  std::fprintf(stderr, "the bed cannot %s\n", what.c_str());
  std::abort();
}

template <typename T>
T must(Result<T> result, const std::string& what) {
  must(result.ok(), what + (result ? "" : ": " + result.error().text()));
  return std::move(result).value();
}

// `ip` with the arguments, in the namespace.
std::string ip_in(const node::Namespace& where, const std::string& arguments) {
  return "ip " + (where.is_host() ? "" : "-n " + where.path.filename().string() + " ") + arguments;
}

void shell(const std::string& command) {
  must(std::system(command.c_str()) == 0, "run: " + command);
}

// A new namespace, held by a bind mount, as `ip netns add` and container runtimes do it.
void make_netns(const Path& path) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream{path};
  std::thread([&] {
    must(::unshare(CLONE_NEWNET) == 0, "unshare");
    must(::mount("/proc/thread-self/ns/net", path.c_str(), "", MS_BIND, nullptr) == 0,
         "mount " + path.string());
  }).join();
}

void drop_netns(const Path& path) {
  must(::umount2(path.c_str(), MNT_DETACH) == 0, "unmount " + path.string());
  std::filesystem::remove(path);
}

// A process that is in the namespace, and does nothing.
pid_t begin_holder(const Path& path) {
  const auto netns = must(netns::NetNs::open(path), "open " + path.string());
  std::array<int, 2> ready{};
  must(::pipe2(ready.data(), O_CLOEXEC) == 0, "make a pipe");
  const pid_t pid = ::fork();
  must(pid >= 0, "fork");
  if (pid == 0) {
    const bool inside = ::setns(netns.fd().get(), CLONE_NEWNET) == 0;
    // It has all that this process has open, which would hold the namespace.
    if (inside) ::execlp("sleep", "sleep", "1000", nullptr);
    ::_exit(1);
  }
  ::close(ready[1]);
  char nothing = 0;
  must(::read(ready[0], &nothing, 1) == 0, "wait for the holder");
  ::close(ready[0]);
  return pid;
}

void end_holder(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

class LinuxFixture : public Fixture {
 public:
  explicit LinuxFixture(ib::PciAddress vf) : vf_(std::move(vf)) {
    open_kernel();
    function_ = *must(kernel_->function(vf_), "find the VF");
    pf_configured_ = must(kernel_->vf_settings(function_), "read the VF's settings");
    must(pf_configured_.policy == nl::LinkPolicy::automatic && !pf_configured_.port_guid.none(),
         "use a VF without GUID or policy auto");
    await_active();
  }

  ~LinuxFixture() override {
    if (rdma_user_ != 0) close_rdma();
    for (const node::Namespace& pod : std::vector(pods_)) kill_pod(pod);
    if (spare_) must(spare_->put_back(*kernel_), "put the spare PF back");
    must(kernel_->set_driver(vf_, std::nullopt), "unbind the VF");
    must(kernel_->set_vf_guids(function_, pf_configured_.node_guid, pf_configured_.port_guid),
         "set the GUIDs");
    must(kernel_->set_vf_policy(function_, pf_configured_.policy), "set the policy");
    must(kernel_->set_driver(vf_, function_.driver), "bind the VF");
    await_active();
  }

  ib::PciAddress vf() const override { return vf_; }
  std::optional<ib::PciAddress> spare_pf() override {
    const char* pf = std::getenv("CONTRACT_PF");
    if (pf == nullptr) return std::nullopt;
    const ib::PciAddress address = must(ib::PciAddress::parse(pf), "read CONTRACT_PF");
    if (!spare_) spare_ = must(SparePf::look(*kernel_, address), "look at the spare PF");
    return address;
  }
  node::Kernel& kernel() override { return *kernel_; }

  node::Namespace make_pod(const std::string& name) override {
    const Path path = "/run/netns/" + name;
    make_netns(path);
    pods_.push_back(*must(kernel_->find_namespace(path), "find " + path.string()));
    return pods_.back();
  }
  void kill_pod(const node::Namespace& pod) override {
    std::erase(pods_, pod);
    const auto holder = holders_.find(pod.path);
    if (holder == holders_.end()) {
      drop_netns(pod.path);
    } else {
      end_holder(holder->second);
      holders_.erase(holder);
    }
    open_kernel();
  }
  void hide_pod(const node::Namespace& pod) override {
    holders_[pod.path] = begin_holder(pod.path);
    drop_netns(pod.path);
    open_kernel();
  }
  void add_netdev(const node::Namespace& where, const std::string& name,
                  nl::IfIndex index) override {
    const int number = static_cast<int>(index);
    const std::string with = number == 0 ? "" : " index " + std::to_string(number);
    shell(ip_in(where, "link add " + name + with + " type dummy"));
  }
  void remove_netdev(const node::Namespace& where, const std::string& name) override {
    shell(ip_in(where, "link delete " + name));
  }
  void add_child(const node::Namespace& where, const std::string& parent, const std::string& name,
                 ib::PKey key) override {
    shell(ip_in(where,
                "link add link " + parent + " name " + name + " type ipoib pkey " + key.text()));
  }
  bool set_address(const node::Namespace& where, const std::string& name,
                   const nl::HardwareAddress& address) override {
    const std::string command =
        ip_in(where, "link set dev " + name + " address " + nl::text(address));
    return std::system(command.c_str()) == 0;
  }
  // A server without a client.
  void open_rdma(const std::string& device) override {
    rdma_user_ = ::fork();
    must(rdma_user_ >= 0, "fork");
    if (rdma_user_ == 0) {
      ::execlp("ibv_rc_pingpong", "ibv_rc_pingpong", "-d", device.c_str(), nullptr);
      ::_exit(1);
    }
    const auto is_open = [&]() -> Result<bool> {
      const std::vector<node::RdmaUser> users = TRY(kernel_->rdma_users(vf_));
      return !users.empty();
    };
    must(must(wait_until(*kernel_, Deadline::in(Duration(20000)), is_open), "wait"),
         "see " + device + " opened");
  }
  void close_rdma() override { end_holder(std::exchange(rdma_user_, 0)); }
  void disable_ipv6(const node::Namespace& where) override {
    const auto netns = must(netns::NetNs::open(where.path), "open " + where.path.string());
    must(run_in_netns(netns.fd(), "disable IPv6",
                      [] {
                        std::ofstream("/proc/sys/net/ipv6/conf/default/disable_ipv6") << "1\n";
                        return ok();
                      }),
         "disable IPv6");
  }

 private:
  void open_kernel() { kernel_ = must(node::LinuxKernel::open(), "open the kernel"); }

  bool is_active() {
    const auto devices = must(kernel_->rdma_devices(node::kHost, vf_), "list RDMA devices");
    const auto netdevs = must(kernel_->netdevs(node::kHost, vf_), "list netdevs");
    if (devices.empty() || netdevs.empty()) return false;
    const auto port = kernel_->port(node::kHost, devices.front().name);
    return port && port->state == ib::PortState::active;
  }
  void await_active() {
    const auto look = [&]() -> Result<bool> { return is_active(); };
    must(must(wait_until(*kernel_, Deadline::in(Duration(20000)), look), "wait"),
         "see the VF ACTIVE");
  }

  ib::PciAddress vf_;
  std::unique_ptr<node::LinuxKernel> kernel_;
  node::Function function_;
  nl::VfSettings pf_configured_;
  std::optional<SparePf> spare_;
  std::vector<node::Namespace> pods_;
  pid_t rdma_user_ = 0;
  std::map<Path, pid_t> holders_;  // the process in a namespace that has lost its path
};

}  // namespace

std::unique_ptr<Fixture> make_fixture() {
  const char* vf = std::getenv("CONTRACT_VF");
  must(vf != nullptr, "do without CONTRACT_VF, the PCI address of a VF");
  return std::make_unique<LinuxFixture>(must(ib::PciAddress::parse(vf), "read CONTRACT_VF"));
}

}  // namespace ibpod::contract
