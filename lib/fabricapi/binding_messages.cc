#include "lib/fabricapi/binding_messages.h"

#include "lib/base/utf8.h"
#include "lib/fabricapi/fields.h"

#include <set>

namespace ibpod::fabricapi {
namespace {

constexpr size_t kLongestUid = 128;
constexpr size_t kLongestToken = 1024;

Result<fabric::Kind> read_kind(const std::string& text) {
  return read_enum("kind", text, fabric::parse_kind, "vf or child");
}

Status check_once(const MembershipMessages& shares, std::string_view field) {
  TRY(check_count(field, shares.size(), kMostMemberships));
  std::set<std::pair<std::string_view, uint32_t>> seen;
  for (const v1::Share& share : shares)
    if (!seen.emplace(share.partition(), share.pkey()).second)
      return wrong(field, share.partition(), "each partition once");
  return ok();
}

Status check_memberships(const MembershipMessages& messages, const std::string& field) {
  TRY(check_once(messages, field));
  for (const v1::Share& message : messages)
    TRY(read_partition_name(field + ".partition", message.partition()));
  return ok();
}

// The P_Key of a partition without a name.
Result<ib::PKey> read_pkey(const v1::Share& message) {
  const ib::PKey pkey(static_cast<uint16_t>(message.pkey()));
  const bool fits = message.pkey() <= 0x7fff && message.partition().empty();
  if (fits && ib::check_tenant(pkey)) return pkey;
  return wrong("partitions.pkey", std::to_string(message.pkey()),
               "a P_Key from 0x0001 to 0x7ffe in place of the partition's name");
}

Result<std::vector<BindRequest::PartitionRequest>> read_requests(
    const MembershipMessages& messages) {
  TRY(check_once(messages, "partitions"));
  if (messages.empty()) return wrong("partitions", "", "at least one");
  std::vector<BindRequest::PartitionRequest> partition_requests;
  for (const v1::Share& message : messages) {
    BindRequest::PartitionRequest partition_request;
    if (message.pkey() != 0)
      partition_request.pkey = TRY(read_pkey(message));
    else
      partition_request.partition =
          TRY(read_partition_name("partitions.partition", message.partition()));
    if (!message.membership().empty())
      partition_request.membership =
          TRY(read_membership("partitions.membership", message.membership()));
    partition_requests.push_back(std::move(partition_request));
  }
  return partition_requests;
}

fabric::Attachment parse_attachment(const v1::AttachmentId& message) {
  return {message.node(), message.container(), message.interface()};
}

v1::Pod pod_message(const fabric::Pod& pod) {
  v1::Pod message;
  message.set_namespace_(pod.name_space);
  message.set_name(pod.name);
  message.set_uid(pod.uid);
  return message;
}

fabric::Pod parse_pod(const v1::Pod& message) {
  return {message.namespace_(), message.name(), message.uid()};
}

Status check_pod(const fabric::Pod& pod) {
  TRY(read_namespace("pod.namespace", pod.name_space));
  TRY(read_name("pod.name", pod.name));
  // Not every runtime reports the UID.
  if (pod.uid.empty()) return ok();
  TRY(read_word("pod.uid", pod.uid, kLongestUid));
  if (pod.uid.find('/') == std::string::npos) return ok();
  return wrong("pod.uid", pod.uid, "printable ASCII characters other than '/'");
}

Status check_attachment(const fabric::Attachment& attachment) {
  TRY(read_node("attachment.node", attachment.node));
  TRY(read_container("attachment.container", attachment.container));
  TRY(read_interface("attachment.interface", attachment.interface));
  return ok();
}

// The PF: the name of an interface, or a PCI address.
Status check_pf(const std::string& text) {
  const bool fits = !text.empty() && text.size() <= kLongestInterface;
  if (fits && is_utf8_word(text) && text.find('/') == std::string::npos) return ok();
  return wrong(
      "pf", text,
      "1 to " + std::to_string(kLongestInterface) + " bytes of UTF-8 without spaces and '/'");
}

// The fields that a BindRequest and a Binding have in common: written, parsed and checked.
template <typename Value, typename Message>
void write_device(const Value& value, Message& message) {
  *message.mutable_attachment() = to_message(value.attachment);
  message.set_guid(value.guid.value());
  message.set_chosen(value.guid_requested);
  message.set_kind(std::string(name(value.kind)));
  message.set_pf(value.pf);
  message.set_pf_guid(value.pf_guid.value());
  message.set_device(value.device);
  *message.mutable_pod() = pod_message(value.pod);
}

template <typename Message, typename Value>
void parse_device(const Message& message, Value& value) {
  value.attachment = parse_attachment(message.attachment());
  value.guid = ib::Guid(message.guid());
  value.guid_requested = message.chosen();
  value.pf = message.pf();
  value.pf_guid = ib::Guid(message.pf_guid());
  value.device = message.device();
  value.pod = parse_pod(message.pod());
}

template <typename Value>
Status check_device(Value& value) {
  TRY(check_attachment(value.attachment));
  TRY(read_guid("guid", value.guid.value()));
  TRY(check_pf(value.pf));
  if (value.pf_guid != ib::Guid()) TRY(read_guid("pf_guid", value.pf_guid.value()));
  value.device = TRY(read_pci("device", value.device));
  return check_pod(value.pod);
}

Result<std::vector<ib::PKey>> read_keys(const v1::Binding& message) {
  std::vector<ib::PKey> keys;
  for (const uint32_t number : message.pkeys()) {
    const ib::PKey key = TRY(ib::PKey::from_number(number).during("pkeys"));
    keys.push_back(key);
  }
  if (keys.empty() || message.pkeys_size() == message.shares_size()) return keys;
  return Error(Code::invalid, "pkeys: expected one for each of the " +
                                  std::to_string(message.shares_size()) + " shares, got " +
                                  std::to_string(keys.size()));
}

Status read_condition(const v1::Binding& message, fabric::Binding& binding) {
  binding.state = TRY(read_state("state", message.state()));
  binding.condition.reason =
      TRY(read_enum("reason", message.reason(), fabric::parse_reason, "a reason"));
  binding.condition.text = message.text();
  binding.proof =
      TRY(read_enum("proof", message.proof(), fabric::parse_proof, "none, port or node"));
  binding.enforcement = TRY(read_enum("enforcement", message.enforcement(),
                                      fabric::parse_enforcement, "unknown, hca or leaf"));
  return ok();
}

}  // namespace

void write_memberships(const std::vector<fabric::PartitionMembership>& memberships,
                       MembershipMessages& messages) {
  for (const fabric::PartitionMembership& membership : memberships) {
    v1::Share& message = *messages.Add();
    message.set_partition(membership.partition);
    message.set_membership(std::string(name(membership.membership)));
  }
}

Result<std::vector<fabric::PartitionMembership>> parse_memberships(
    const MembershipMessages& messages, const std::string& field) {
  std::vector<fabric::PartitionMembership> memberships;
  for (const v1::Share& message : messages) {
    const fabric::Membership membership =
        TRY(read_membership(field + ".membership", message.membership()));
    memberships.push_back({message.partition(), membership});
  }
  return memberships;
}

void write_spec(const fabric::Binding& binding, v1::Binding& message) {
  write_device(binding, message);
  write_memberships(binding.desired, *message.mutable_shares());
  write_memberships(binding.applied, *message.mutable_held());
  message.set_generation(binding.generation);
  message.set_asked(binding.asked.time_since_epoch().count());
  message.set_changed(binding.changed.time_since_epoch().count());
}

Result<fabric::Binding> parse_spec(const v1::Binding& message) {
  fabric::Binding binding;
  parse_device(message, binding);
  binding.kind = TRY(read_kind(message.kind()));
  binding.desired = TRY(parse_memberships(message.shares(), "shares"));
  binding.applied = TRY(parse_memberships(message.held(), "held"));
  binding.generation = message.generation();
  binding.asked = fabric::WallTime(std::chrono::milliseconds(message.asked()));
  binding.changed = fabric::WallTime(std::chrono::milliseconds(message.changed()));
  return binding;
}

v1::Binding to_message(const fabric::Binding& binding) {
  v1::Binding message;
  write_spec(binding, message);
  for (const ib::PKey key : binding.keys) message.add_pkeys(key.value());
  message.set_state(std::string(name(binding.state)));
  message.set_reason(std::string(name(binding.condition.reason)));
  message.set_text(cleaned(binding.condition.text));
  message.set_proof(std::string(name(binding.proof)));
  message.set_enforcement(std::string(name(binding.enforcement)));
  return message;
}

Result<fabric::Binding> from_message(const v1::Binding& message) {
  // An attachment without a binding has only these two fields.
  if (message.guid() == 0 && message.state() == name(fabric::BindingState::released)) {
    fabric::Binding none;
    none.attachment = TRY(from_message(message.attachment()));
    none.state = fabric::BindingState::released;
    return none;
  }
  fabric::Binding binding = TRY(parse_spec(message));
  TRY(check_device(binding));
  TRY(check_memberships(message.shares(), "shares"));
  TRY(check_memberships(message.held(), "held"));
  binding.keys = TRY(read_keys(message));
  TRY(read_condition(message, binding));
  return binding;
}

v1::AttachmentId to_message(const fabric::Attachment& attachment) {
  v1::AttachmentId message;
  message.set_node(attachment.node);
  message.set_container(attachment.container);
  message.set_interface(attachment.interface);
  return message;
}

Result<fabric::Attachment> from_message(const v1::AttachmentId& message) {
  fabric::Attachment attachment = parse_attachment(message);
  TRY(check_attachment(attachment));
  return attachment;
}

v1::BindRequest to_message(const BindRequest& request) {
  v1::BindRequest message;
  write_device(request, message);
  for (const BindRequest::PartitionRequest& partition_request : request.partitions) {
    v1::Share& share = *message.add_partitions();
    if (partition_request.pkey)
      share.set_pkey(partition_request.pkey->partition());
    else
      share.set_partition(partition_request.partition);
    if (partition_request.membership)
      share.set_membership(std::string(name(*partition_request.membership)));
  }
  return message;
}

Result<BindRequest> from_message(const v1::BindRequest& message) {
  BindRequest request;
  parse_device(message, request);
  TRY(check_device(request));
  if (!message.kind().empty()) request.kind = TRY(read_kind(message.kind()));
  request.partitions = TRY(read_requests(message.partitions()));
  return request;
}

v1::BindingFilter to_message(const BindingFilter& filter) {
  v1::BindingFilter message;
  message.set_node(filter.node);
  message.set_partition(filter.partition);
  message.set_namespace_(filter.name_space);
  message.set_pod(filter.pod);
  if (filter.guid) message.set_guid(filter.guid->value());
  if (filter.state) message.set_state(std::string(name(*filter.state)));
  return message;
}

Result<BindingFilter> from_message(const v1::BindingFilter& message) {
  BindingFilter filter;
  if (!message.node().empty()) filter.node = TRY(read_node("filter.node", message.node()));
  if (!message.partition().empty())
    filter.partition = TRY(read_partition_name("filter.partition", message.partition()));
  if (!message.namespace_().empty())
    filter.name_space = TRY(read_namespace("filter.namespace", message.namespace_()));
  if (!message.pod().empty()) filter.pod = TRY(read_name("filter.pod", message.pod()));
  if (message.guid() != 0) filter.guid = TRY(read_guid("filter.guid", message.guid()));
  if (!message.state().empty())
    filter.state = TRY(read_state("state", message.state()).during("filter"));
  return filter;
}

v1::ListBindingsResponse to_message(const ListPage<fabric::Binding>& listed) {
  v1::ListBindingsResponse message;
  for (const fabric::Binding& binding : listed.items) *message.add_bindings() = to_message(binding);
  message.set_next_page_token(listed.next);
  return message;
}

Result<ListPage<fabric::Binding>> from_message(const v1::ListBindingsResponse& message) {
  ListPage<fabric::Binding> listed;
  for (const v1::Binding& one : message.bindings()) {
    fabric::Binding binding = TRY(from_message(one).during("bindings"));
    listed.items.push_back(std::move(binding));
  }
  listed.next = message.next_page_token();
  return listed;
}

v1::BindingChange to_message(const BindingChange& change) {
  v1::BindingChange message;
  *message.mutable_binding() = to_message(change.binding);
  message.set_gone(change.gone);
  return message;
}

Result<BindingChange> from_message(const v1::BindingChange& message) {
  BindingChange change;
  change.binding = TRY(from_message(message.binding()).during("binding"));
  change.gone = message.gone();
  return change;
}

Result<PageRequest> read_page_request(uint32_t size, const std::string& token) {
  PageRequest page{size, token};
  if (!token.empty()) page.token = TRY(read_word("page_token", token, kLongestToken));
  return page;
}

}  // namespace ibpod::fabricapi
