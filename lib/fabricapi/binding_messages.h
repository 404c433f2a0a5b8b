// Messages about bindings, and the values that they carry. from_message() takes nothing on trust:
// invalid, naming the field, for whatever the value could not have been.
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/fabricapi/fabric.h"

#include <string>
#include <vector>

namespace ibpod::fabricapi {

using MembershipMessages = google::protobuf::RepeatedPtrField<v1::Share>;
void write_memberships(const std::vector<fabric::PartitionMembership>& memberships,
                       MembershipMessages& messages);
// invalid for a word that is no membership; nothing else is checked.
Result<std::vector<fabric::PartitionMembership>> parse_memberships(
    const MembershipMessages& messages, const std::string& field);

// The codec of a binding, without what is observed (keys, state, condition, proof, enforcement):
// of a message on the wire, and of a record of ibpod-sm's database. invalid for a word of no closed
// set; the rest is for the caller to check.
void write_spec(const fabric::Binding& binding, v1::Binding& message);
Result<fabric::Binding> parse_spec(const v1::Binding& message);

// Whole, both ways.
v1::Binding to_message(const fabric::Binding& binding);
Result<fabric::Binding> from_message(const v1::Binding& message);

v1::AttachmentId to_message(const fabric::Attachment& attachment);
Result<fabric::Attachment> from_message(const v1::AttachmentId& message);

// A request's `fabric` is not converted.
v1::BindRequest to_message(const BindRequest& request);
Result<BindRequest> from_message(const v1::BindRequest& message);

v1::BindingFilter to_message(const BindingFilter& filter);
Result<BindingFilter> from_message(const v1::BindingFilter& message);

v1::ListBindingsResponse to_message(const ListPage<fabric::Binding>& listed);
Result<ListPage<fabric::Binding>> from_message(const v1::ListBindingsResponse& message);

v1::BindingChange to_message(const BindingChange& change);
Result<BindingChange> from_message(const v1::BindingChange& message);

// Where a list goes on.
Result<PageRequest> read_page_request(uint32_t size, const std::string& token);

}  // namespace ibpod::fabricapi
