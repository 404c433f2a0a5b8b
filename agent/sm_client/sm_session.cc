#include "agent/sm_client/sm_session.h"

namespace ibpod::agent {

Link::Link(fabricapi::Client client, LinkWorld world)
    : client_(std::move(client)),
      world_(std::move(world)),
      renewal_(RenewalWorld{client_, bindings_, world_.records, world_.node,
                            [this](const auto& name, auto asked) { return bind_lost(name, asked); },
                            world_.tables, world_.told}) {}

Result<fabricapi::BindRequest> Link::request_of(const node::Record& record) const {
  const PfOfDevice pf = TRY(world_.pf(record.device));
  return bind_request(record, world_.node, pf);
}

// An end that has begun writes it down before it takes anything back.
Result<fabricapi::BindRequest> Link::wish_of(const nodeapi::AttachmentName& name,
                                             node::Record& record) const {
  record = TRY(record_of(world_.records, name));
  if (record.stage != node::Stage::attached)
    return Error(Code::invalid, "the end of the attachment has begun");
  return request_of(record);
}

Result<nodeapi::Binding> Link::bind(const nodeapi::AttachmentName& name, nodeapi::Node::Wait wait,
                                    Deadline deadline) {
  node::Record record;
  {
    const std::scoped_lock lock(order_);
    const fabricapi::BindRequest request = TRY(wish_of(name, record));
    bindings_.bind(request);
  }
  renewal_.hurry();
  const fabric::Attachment attachment = attachment_of(world_.node, name);
  const fabric::Binding binding = TRY(waited_for(attachment, wait, deadline));
  return told(binding, record);
}

Result<fabric::Binding> Link::waited_for(const fabric::Attachment& attachment,
                                         nodeapi::Node::Wait wait, Deadline deadline) {
  switch (wait) {
    case nodeapi::Node::Wait::no:
      return bindings_.now(attachment);
    case nodeapi::Node::Wait::granted:
      return bindings_.await(attachment, Bindings::Until::granted, deadline);
    default:
      return bindings_.await(attachment, Bindings::Until::done, deadline);
  }
}

// Whether it is to be bound here.
bool Link::bind_lost(const nodeapi::AttachmentName& name, Bindings::Moment asked) {
  const std::scoped_lock lock(order_);
  node::Record record;
  const Result<fabricapi::BindRequest> request = wish_of(name, record);
  if (request) bindings_.bind_anew(*request, asked);
  return request || request.error().code() != Code::unsupported;
}

bool Link::may_have(const nodeapi::AttachmentName& name) const {
  const fabric::Attachment attachment = attachment_of(world_.node, name);
  return bindings_.may_have_bound(attachment) || renewal_.has_told_of(attachment);
}

Result<nodeapi::Binding> Link::unbind(const nodeapi::AttachmentName& name, Deadline deadline) {
  const fabric::Attachment attachment = attachment_of(world_.node, name);
  {
    const std::scoped_lock lock(order_);
    const bool taken = TRY(is_taken(name));
    if (taken) return nodeapi::Binding{"released", "none", "", {}, "", ""};
    bindings_.unbind(attachment);
  }
  renewal_.hurry();
  const fabric::Binding binding = TRY(bindings_.await(attachment, Bindings::Until::done, deadline));
  return told(binding);
}

// Another attempt has the name by now: what is bound is its own. One that names no partition has
// nothing bound.
Result<bool> Link::is_taken(const nodeapi::AttachmentName& name) const {
  if (name.attempt.empty()) return false;
  const std::vector<node::RecordName> names =
      TRY(world_.records.of_attachment(name.container_id, name.ifname));
  for (const node::RecordName& one : names) {
    const Result<node::Record> record = world_.records.read(one);
    if (record && record->attempt != name.attempt && !record->wanted.partitions.empty())
      return true;
  }
  return false;
}

}  // namespace ibpod::agent
