// Messages about bindings, and their values. from_message() trusts nothing: invalid, naming the
// field, for any impossible value.
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/fabricapi/calls.h"

#include <string>
#include <vector>

namespace ibpod::fabricapi {

using MembershipMessages = google::protobuf::RepeatedPtrField<v1::Share>;
void write_memberships(const std::vector<fabric::PartitionMembership>& memberships,
                       MembershipMessages& messages);
// invalid for an unknown membership; nothing else is checked.
Result<std::vector<fabric::PartitionMembership>> parse_memberships(
    const MembershipMessages& messages, const std::string& field);

// Converts the requested part of a binding (without keys, state, condition, proof and enforcement),
// for messages and for records of ibpod-sm's database. invalid for an unknown word; the caller
// checks the rest.
void write_spec(const fabric::Binding& binding, v1::Binding& message);
Result<fabric::Binding> parse_spec(const v1::Binding& message);

// Converts all fields, in both directions.
v1::Binding to_message(const fabric::Binding& binding);
Result<fabric::Binding> from_message(const v1::Binding& message);

v1::AttachmentId to_message(const fabric::Attachment& attachment);
Result<fabric::Attachment> from_message(const v1::AttachmentId& message);

// `fabric` of a request is not converted.
v1::BindRequest to_message(const BindRequest& request);
Result<BindRequest> from_message(const v1::BindRequest& message);

v1::BindingFilter to_message(const BindingFilter& filter);
Result<BindingFilter> from_message(const v1::BindingFilter& message);

v1::ListBindingsResponse to_message(const ListPage<fabric::Binding>& listed);
Result<ListPage<fabric::Binding>> from_message(const v1::ListBindingsResponse& message);

v1::BindingChange to_message(const BindingChange& change);
Result<BindingChange> from_message(const v1::BindingChange& message);

// The page of a list request.
Result<PageRequest> read_page_request(uint32_t size, const std::string& token);

}  // namespace ibpod::fabricapi
