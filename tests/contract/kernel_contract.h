// The contract of node::Kernel: what every implementation does, including how real kernels differ
// from their documentation. The cases are in the other files of this folder. They are linked with a
// fixture of the model (fake_fixture.cc, as unit tests) and with one of the real kernel
// (linux_fixture.cc, in the test VM). If a kernel behaves differently than expected, first add a
// case, then change the model, then the code.
#pragma once

#include "lib/ib/pkey.h"
#include "lib/node/kernel.h"

#include <memory>
#include <optional>
#include <string>

namespace ibpod::contract {

// A node with a VF that has GUIDs, the policy automatic and an ACTIVE port, in exclusive mode, and
// somebody beside the code under test who can do something to it. Its end puts everything back.
class Fixture {
 public:
  virtual ~Fixture() = default;

  virtual ib::PciAddress vf() const = 0;
  // Another PF, all of whose VFs are bound and at home, and may be removed and made again. Nothing:
  // there is none, and what needs one is not shown.
  virtual std::optional<ib::PciAddress> spare_pf() = 0;
  // Another one after kill_pod(): one that holds a namespace open keeps it alive.
  virtual node::Kernel& kernel() = 0;

  // A network namespace with lo in it, under a path of that name.
  virtual node::Namespace make_pod(const std::string& name) = 0;
  // Nothing leads to it and nothing holds it any more.
  virtual void kill_pod(const node::Namespace& pod) = 0;
  // No path leads to it any more: a process of its own is in it, which lives until the next
  // kill_pod() of it. As after that, kernel() is another one.
  virtual void hide_pod(const node::Namespace& pod) = 0;
  // Some other netdev, which has the name now, and the index if one is given.
  virtual void add_netdev(const node::Namespace& where, const std::string& name,
                          nl::IfIndex index = {}) = 0;
  virtual void remove_netdev(const node::Namespace& where, const std::string& name) = 0;
  virtual void add_child(const node::Namespace& where, const std::string& parent,
                         const std::string& name, ib::PKey key) = 0;
  // True if the netdev took another hardware address.
  virtual bool set_address(const node::Namespace& where, const std::string& name,
                           const nl::HardwareAddress& address) = 0;
  // A process opens the RDMA device of that name of the host's namespace, which is the VF's. It has
  // it open when this returns, until close_rdma().
  virtual void open_rdma(const std::string& device) = 0;
  virtual void close_rdma() = 0;
  // Netdevs that come into the namespace from now on take no IPv6 addresses by themselves.
  virtual void disable_ipv6(const node::Namespace& where) = 0;
};

// Defined by the fixture that is linked. A case makes one and does not clean it up.
std::unique_ptr<Fixture> make_fixture();

}  // namespace ibpod::contract
