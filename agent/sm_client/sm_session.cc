#include "agent/sm_client/sm_session.h"

namespace ibpod::agent::sm_client {

SmSession::SmSession(fabricapi::Client client, SmSessionDeps deps)
    : client_(std::move(client)),
      deps_(std::move(deps)),
      lease_loop_(
          LeaseLoopDeps{client_, bindings_, deps_.records, deps_.node,
                        [this](const auto& name, auto asked) { return rebind_lost(name, asked); },
                        deps_.read_tables, deps_.on_status}) {}

Result<fabricapi::BindRequest> SmSession::make_request(const node::Record& record) const {
  const PfIdentity pf = TRY(deps_.pf(record.device));
  return make_bind_request(record, deps_.node, pf);
}

// An end that has begun writes it down before it takes anything back.
Result<fabricapi::BindRequest> SmSession::read_request(const nodeapi::AttachmentName& name,
                                                       node::Record& record) const {
  record = TRY(record_of(deps_.records, name));
  if (record.stage != node::Stage::attached)
    return Error(Code::invalid, "the attachment is being released");
  return make_request(record);
}

Result<nodeapi::Binding> SmSession::bind(const nodeapi::AttachmentName& name,
                                         nodeapi::Node::Wait wait, Deadline deadline) {
  node::Record record;
  {
    const std::scoped_lock lock(order_mutex_);
    const fabricapi::BindRequest request = TRY(read_request(name, record));
    bindings_.bind(request);
  }
  lease_loop_.observe_now();
  const fabric::Attachment attachment = attachment_of(deps_.node, name);
  const fabric::Binding binding = TRY(wait_for(attachment, wait, deadline));
  return to_node_binding(binding, record);
}

Result<fabric::Binding> SmSession::wait_for(const fabric::Attachment& attachment,
                                            nodeapi::Node::Wait wait, Deadline deadline) {
  switch (wait) {
    case nodeapi::Node::Wait::no:
      return bindings_.current(attachment);
    case nodeapi::Node::Wait::granted:
      return bindings_.await(attachment, Bindings::Until::granted, deadline);
    default:
      return bindings_.await(attachment, Bindings::Until::done, deadline);
  }
}

// Binds it again if its record demands that. True if it is to be bound here.
bool SmSession::rebind_lost(const nodeapi::AttachmentName& name, Bindings::Revision asked) {
  const std::scoped_lock lock(order_mutex_);
  node::Record record;
  const Result<fabricapi::BindRequest> request = read_request(name, record);
  if (request) bindings_.rebind(*request, asked);
  return request || request.error().code() != Code::unsupported;
}

bool SmSession::has_or_requested(const nodeapi::AttachmentName& name) const {
  const fabric::Attachment attachment = attachment_of(deps_.node, name);
  return bindings_.has_started_bind(attachment) || lease_loop_.has_binding(attachment);
}

Result<nodeapi::Binding> SmSession::unbind(const nodeapi::AttachmentName& name, Deadline deadline) {
  const fabric::Attachment attachment = attachment_of(deps_.node, name);
  {
    const std::scoped_lock lock(order_mutex_);
    const bool taken = TRY(is_superseded(name));
    if (taken) return nodeapi::Binding{"released", "none", "", {}, "", ""};
    bindings_.unbind(attachment);
  }
  lease_loop_.observe_now();
  const fabric::Binding binding = TRY(bindings_.await(attachment, Bindings::Until::done, deadline));
  return to_node_binding(binding);
}

// Another attempt has the name by now: what is bound is its own. One that names no partition has
// nothing bound.
Result<bool> SmSession::is_superseded(const nodeapi::AttachmentName& name) const {
  if (name.attempt.empty()) return false;
  const std::vector<node::RecordName> names =
      TRY(deps_.records.of_attachment(name.container_id, name.ifname));
  for (const node::RecordName& one : names) {
    const Result<node::Record> record = deps_.records.read(one);
    if (record && record->attempt != name.attempt && !record->spec.partitions.empty()) return true;
  }
  return false;
}

}  // namespace ibpod::agent::sm_client
