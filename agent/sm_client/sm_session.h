// Link: a node's side of the SM service of one fabric: the connection, the bindings that are on
// their way, the leases.
#pragma once

#include "agent/sm_client/bind_request.h"
#include "agent/sm_client/bindings.h"
#include "agent/sm_client/lease_loop.h"
#include "lib/fabricapi/client.h"
#include "lib/nodeapi/node.h"

#include <functional>
#include <mutex>
#include <string>

namespace ibpod::agent {

// What it needs of the node. All of it outlives it.
struct LinkWorld {
  const node::Records& records;
  std::string node;
  // The PF behind a device. unsupported where it is not on this service's fabric.
  std::function<Result<PfOfDevice>(const ib::PciAddress&)> pf;
  std::function<std::vector<fabricapi::ObserveRequest::Seen>(const std::vector<ib::Guid>&)> tables;
  std::function<void(const Contact&)> told;
};

// From any thread.
class Link {
 public:
  Link(fabricapi::Client client, LinkWorld world);

  // As nodeapi::Node has them.
  Result<nodeapi::Binding> bind(const nodeapi::AttachmentName& name, nodeapi::Node::Wait wait,
                                Deadline deadline);
  Result<nodeapi::Binding> unbind(const nodeapi::AttachmentName& name, Deadline deadline);
  // Renewal::set_ports().
  void set_ports(const NodePorts& ports) { renewal_.set_ports(ports); }
  // Renewal::sync_now().
  void sync_now() { renewal_.sync_now(); }
  // Whether the service may have a binding of it: it has been asked for one, or has told of it.
  bool may_have(const nodeapi::AttachmentName& name) const;

 private:
  Result<fabricapi::BindRequest> request_of(const node::Record& record) const;
  Result<fabric::Binding> waited_for(const fabric::Attachment& attachment, nodeapi::Node::Wait wait,
                                     Deadline deadline);
  Result<bool> is_taken(const nodeapi::AttachmentName& name) const;

  // What its record says is to be bound. Under the order's lock.
  Result<fabricapi::BindRequest> wish_of(const nodeapi::AttachmentName& name,
                                         node::Record& record) const;
  bool bind_lost(const nodeapi::AttachmentName& name, Bindings::Moment asked);

  fabricapi::Client client_;
  const LinkWorld world_;
  // Between the look at a record and what is asked for because of it, no end of it comes.
  std::mutex order_;
  Bindings bindings_{client_};
  Renewal renewal_;
};

}  // namespace ibpod::agent
