// FakeKernel: the Kernel over a modelled node, with failures and deaths on demand. Tests look at
// the node's state, never at the order of calls:
//
//   for (int n = 0;; ++n) {
//     FakeKernel k = one_vf_node();
//     const State before = k.state;
//     k.fail_at(n);
//     if (attach(k, …)) break;  // past the last step
//     CHECK(diff(before, k.state) == "");
//   }
#pragma once

#include "lib/node/kernel.h"
#include "tests/support/fake_node.h"

#include <cerrno>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace ibpod::fake {

// Thrown out of a call in which the process under test is killed. Only tests catch it; the kernel
// goes on to work for whoever comes next.
struct Killed {};

struct Announcement {
  node::Namespace where;
  std::string netdev;
  ip::Prefix address;
  nl::HardwareAddress hardware_address;
  bool operator==(const Announcement&) const = default;
};

class FakeKernel : public FakeNode, public node::Kernel {
 public:
  // The calls that are counted: orders alone, or questions and waits too.
  enum class Count { orders, calls };
  // When the fault happens, relative to the call's work. amid_effect is for a kill: the device that
  // is bound or moved no longer reacts.
  enum class When { before_effect, amid_effect, after_effect };

  // The n-th call from now on, counted from 0, answers `internal` (EIO), having done nothing;
  void fail_at(int n, Count count = Count::orders) {
    fault_ = {Fault::fail, n, n, count, When::before_effect};
  }
  // having done all of it;
  void fail_after(int n, Count count = Count::orders) {
    fault_ = {Fault::fail, n, n, count, When::after_effect};
  }
  // and every later one, too, until heal().
  void fail_from(int n, Count count = Count::orders) {
    fault_ = {Fault::fail, n, kForever, count, When::before_effect};
  }
  // The process dies in the n-th call: Killed.
  void kill_at(int n, When when, Count count = Count::orders) {
    fault_ = {Fault::kill, n, n, count, when};
  }
  void heal() { fault_ = {}; }

  // True if the fault has happened since it was ordered: a loop over n ends when it has not.
  bool struck() const { return fault_.struck; }
  // How often it was asked and ordered since it was made, and the orders' names.
  int calls() const { return calls_; }
  int orders() const { return static_cast<int>(trail_.size()); }
  const std::vector<std::string>& trail() const { return trail_; }

  // Happens in one of the next waits: the first of these in the first wait, and so on.
  void at_next_wait(std::function<void(FakeKernel&)> event) { events_.push_back(std::move(event)); }
  // How often the code under test waited.
  int waits() const { return waits_; }
  // The announcements that reached the neighbors.
  std::vector<Announcement> announced;

  Result<std::optional<node::Function>> function(const ib::PciAddress& address) override;
  Result<std::vector<std::string>> char_devices(const ib::PciAddress& address) override;
  Result<std::vector<ib::PciAddress>> pfs() override;
  Result<std::optional<node::Pf>> pf(const ib::PciAddress& address) override;
  Result<nl::RdmaNetnsMode> rdma_netns_mode() override;
  Result<std::optional<node::Namespace>> find_namespace(const Path& path) override;
  Result<netns::NetnsStatus> namespace_status(const node::Namespace& recorded) override;
  Result<std::optional<Error>> each_namespace(Deadline deadline,
                                              const node::NamespaceVisitor& visit) override;
  Result<std::optional<node::Netdev>> find_netdev(const node::Namespace& where,
                                                  const std::string& name) override;
  Result<std::vector<node::Netdev>> netdevs(const node::Namespace& where,
                                            const ib::PciAddress& function) override;
  Result<std::vector<node::Netdev>> own_netdevs(const node::Namespace& where,
                                                const ib::PciAddress& function) override;
  Result<std::vector<node::Netdev>> ipoib_netdevs(const node::Namespace& where) override;
  Result<std::vector<uint32_t>> ipoib_queue_pairs(const ib::PciAddress& function) override;
  Result<std::vector<node::RdmaUser>> rdma_users(const ib::PciAddress& function) override;
  Result<std::optional<ib::PciAddress>> function_of(const std::string& netdev) override;
  Result<std::vector<node::RdmaDevice>> rdma_devices(const node::Namespace& where,
                                                     const ib::PciAddress& function) override;
  Result<std::vector<std::string>> rdma_names(const node::Namespace& where,
                                              const ib::PciAddress& function) override;
  Result<ib::Port> port(const node::Namespace& where, const std::string& rdma_device) override;
  Result<ib::Port> port_up_to(const node::Namespace& where, const std::string& rdma_device,
                              ib::PKey key) override;
  Result<nl::VfSettings> vf_settings(const node::Function& vf) override;
  Result<std::vector<nl::LinkAddress>> addresses(const node::Namespace& where,
                                                 nl::IfIndex netdev) override;
  Result<std::vector<nl::Route>> routes(const node::Namespace& where, nl::IfIndex netdev) override;
  Result<node::HostNetwork> host_network() override;

  Status set_vf_count(const ib::PciAddress& pf, uint32_t count) override;
  Status set_autoprobe(const ib::PciAddress& pf, bool on) override;
  Status set_rdma_netns_mode(nl::RdmaNetnsMode mode) override;
  Status set_vf_guids(const node::Function& vf, ib::Guid node, ib::Guid port) override;
  Status set_vf_policy(const node::Function& vf, nl::LinkPolicy policy) override;
  Status set_driver(const ib::PciAddress& function,
                    const std::optional<std::string>& driver) override;
  Status move_rdma(const node::Namespace& from, const std::string& device,
                   const node::Namespace& to) override;
  Status rename_rdma(const node::Namespace& where, const std::string& device,
                     const std::string& name) override;
  Status move_netdev(const node::Namespace& from, nl::IfIndex netdev, const node::Namespace& to,
                     const std::string& name) override;
  Status change_netdev(const node::Namespace& where, nl::IfIndex netdev,
                       const node::NetdevChange& change) override;
  Status create_child(nl::IfIndex parent, const nl::NewChild& child) override;
  Status remove_netdev(const node::Namespace& where, nl::IfIndex netdev) override;
  Status configure(const node::Namespace& where, nl::IfIndex netdev,
                   const node::Addressing& addressing, Deadline deadline) override;
  Status announce(const node::Namespace& where, nl::IfIndex netdev,
                  const std::vector<ip::Prefix>& addresses) override;
  // Takes no time: runs one event of at_next_wait() and settles; false once there is nothing left
  // to do.
  Result<bool> wait_for_change(Deadline deadline) override;

 private:
  int renamed_ = 0;
  static constexpr int kForever = 1 << 30;
  struct Fault {
    enum Kind { none, fail, kill } kind = none;
    int first = 0;
    int last = 0;
    Count count = Count::orders;
    When when = When::before_effect;
    int seen = 0;
    bool struck = false;
  };
  enum class Sort { question, order };

  template <typename Work>
  auto call(const char* what, Sort sort, Work work) -> decltype(work());
  template <typename Work>
  auto count_question(const char* what, Work work) {
    return call(what, Sort::question, work);
  }
  template <typename Work>
  auto count_order(const char* what, Work work) {
    return call(what, Sort::order, work);
  }
  bool strikes(Sort sort);
  bool wait(Deadline deadline);

  Result<FoundRdma> find_rdma(const node::Namespace& where, const std::string& name);
  void rename_unlistable();
  Result<PciFunction*> vf_under_pf(const node::Function& vf);
  Status change_altnames(const Found& netdev, const std::set<std::string>& wanted);
  Status change_mtu(Interface& interface, uint32_t mtu);
  void change_mode(Interface& interface, const node::NetdevChange& change);
  Status set_addresses(Interface& interface, const std::vector<ip::Prefix>& addresses);
  Status await_dad(Id netdev, Deadline deadline);
  Status add_route(Interface& interface, const nl::Route& route);

  Fault fault_;
  int calls_ = 0;
  int waits_ = 0;
  std::vector<std::string> trail_;
  std::deque<std::function<void(FakeKernel&)>> events_;
};

template <typename Work>
auto FakeKernel::call(const char* what, Sort sort, Work work) -> decltype(work()) {
  if (sort == Sort::order) trail_.emplace_back(what);
  if (!strikes(sort)) return work();
  if (fault_.when != When::before_effect) {
    caller_is_dying = fault_.when == When::amid_effect;
    const auto done = work();
    caller_is_dying = false;
    if (!done && fault_.kind == Fault::fail) return done;  // it has failed by itself
  }
  if (fault_.kind == Fault::kill) throw Killed{};
  return Error::from_errno(EIO, what);
}

// --- nodes to start from

// 0000:3b:00.0, 0000:3c:00.0 …, and their VFs 0000:3b:00.1 … (fake_node.h)
ib::PciAddress pf_address(unsigned pf);
ib::PciAddress vf_address(unsigned pf, unsigned vf);
// 02:00:5e:10:00:PF:00:00, and 02:00:5e:10:00:PF:00:01 … of the VFs.
ib::Guid pf_guid(unsigned pf);
ib::Guid vf_guid(unsigned pf, unsigned vf);

// An exclusive-mode node as an agent leaves it: PFs are mlx5_0/ib0 …, then all VFs; each VF has its
// GUIDs, the policy automatic, and an ACTIVE port; an altname as udev gives them.
FakeKernel node_with(unsigned pfs, unsigned vfs);
FakeKernel one_vf_node();
// The VF as a driver makes it: no GUID, policy disable, port down.
FakeKernel fresh_vf_node();

}  // namespace ibpod::fake
