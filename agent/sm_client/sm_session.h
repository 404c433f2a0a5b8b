// SmSession: a node's side of the SM service of one fabric: the connection, the bindings that are
// on their way, the leases.
#pragma once

#include "agent/sm_client/bind_request.h"
#include "agent/sm_client/bindings.h"
#include "agent/sm_client/lease_loop.h"
#include "lib/fabricapi/client.h"
#include "lib/nodeapi/node.h"

#include <functional>
#include <mutex>
#include <string>

namespace ibpod::agent::sm_client {

// The parts of the node that it uses. All of them outlive it.
struct SmSessionDeps {
  const node::Records& records;
  std::string node;
  // The PF behind a device. unsupported where it is not on this service's fabric.
  std::function<Result<PfIdentity>(const ib::PciAddress&)> pf;
  std::function<std::vector<fabricapi::ObserveRequest::PortTable>(const std::vector<ib::Guid>&)>
      read_tables;
  std::function<void(const SmStatus&)> on_status;
};

// From any thread.
class SmSession {
 public:
  SmSession(fabricapi::Client client, SmSessionDeps deps);

  // As nodeapi::Node has them.
  Result<nodeapi::Binding> bind(const nodeapi::AttachmentName& name, nodeapi::Node::Wait wait,
                                Deadline deadline);
  Result<nodeapi::Binding> unbind(const nodeapi::AttachmentName& name, Deadline deadline);
  // See LeaseLoop::set_ports().
  void set_ports(const NodePorts& ports) { lease_loop_.set_ports(ports); }
  // See LeaseLoop::sync_now().
  void sync_now() { lease_loop_.sync_now(); }
  // True if the service may have a binding of it: one was requested, or the service has reported
  // one.
  bool has_or_requested(const nodeapi::AttachmentName& name) const;

 private:
  Result<fabricapi::BindRequest> make_request(const node::Record& record) const;
  Result<fabric::Binding> wait_for(const fabric::Attachment& attachment, nodeapi::Node::Wait wait,
                                   Deadline deadline);
  Result<bool> is_superseded(const nodeapi::AttachmentName& name) const;

  // The request that its record describes. Call it under the order's lock.
  Result<fabricapi::BindRequest> read_request(const nodeapi::AttachmentName& name,
                                              node::Record& record) const;
  bool rebind_lost(const nodeapi::AttachmentName& name, Bindings::Revision asked);

  fabricapi::Client client_;
  const SmSessionDeps deps_;
  // Between the look at a record and what is asked for because of it, no end of it comes.
  std::mutex order_mutex_;
  Bindings bindings_{client_};
  LeaseLoop lease_loop_;
};

}  // namespace ibpod::agent::sm_client
