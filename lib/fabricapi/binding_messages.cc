#include "lib/fabricapi/binding_messages.h"

#include "lib/base/utf8.h"
#include "lib/fabricapi/fields.h"

#include <set>

namespace ibpod::fabricapi {
namespace {

constexpr size_t kLongestUid = 128;
constexpr size_t kLongestPf = 64;
constexpr size_t kLongestToken = 1024;

using Memberships = google::protobuf::RepeatedPtrField<v1::Share>;

Result<fabric::Kind> read_kind(const std::string& text) {
  return read_enum("kind", text, fabric::parse_kind, "vf or child");
}

Status check_once(const Memberships& shares, std::string_view field) {
  TRY(check_count(field, shares.size(), kMostMemberships));
  std::set<std::pair<std::string_view, uint32_t>> seen;
  for (const v1::Share& share : shares)
    if (!seen.emplace(share.partition(), share.pkey()).second)
      return wrong(field, share.partition(), "each partition once");
  return ok();
}

Result<std::vector<fabric::PartitionMembership>> read_memberships(const Memberships& messages,
                                                                  const std::string& field) {
  TRY(check_once(messages, field));
  std::vector<fabric::PartitionMembership> memberships;
  for (const v1::Share& message : messages) {
    fabric::PartitionMembership membership;
    membership.partition = TRY(read_partition_name(field + ".partition", message.partition()));
    membership.membership = TRY(read_membership(field + ".membership", message.membership()));
    memberships.push_back(std::move(membership));
  }
  return memberships;
}

// The P_Key of a partition without a name.
Result<ib::PKey> read_pkey(const v1::Share& message) {
  const ib::PKey pkey(static_cast<uint16_t>(message.pkey()));
  const bool fits = message.pkey() <= 0x7fff && message.partition().empty();
  if (fits && ib::check_tenant(pkey)) return pkey;
  return wrong("partitions.pkey", std::to_string(message.pkey()),
               "a P_Key from 0x0001 to 0x7ffe in place of the partition's name");
}

Result<std::vector<BindRequest::PartitionRequest>> read_requests(const Memberships& messages) {
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

void write_memberships(const std::vector<fabric::PartitionMembership>& memberships,
                       Memberships& messages) {
  for (const fabric::PartitionMembership& membership : memberships) {
    v1::Share& message = *messages.Add();
    message.set_partition(membership.partition);
    message.set_membership(std::string(name(membership.membership)));
  }
}

v1::Pod pod_message(const fabric::Pod& pod) {
  v1::Pod message;
  message.set_namespace_(pod.name_space);
  message.set_name(pod.name);
  message.set_uid(pod.uid);
  return message;
}

Result<fabric::Pod> read_pod(const v1::Pod& message) {
  fabric::Pod pod;
  pod.name_space = TRY(read_namespace("pod.namespace", message.namespace_()));
  pod.name = TRY(read_name("pod.name", message.name()));
  // Not every runtime tells it.
  if (!message.uid().empty()) pod.uid = TRY(read_word("pod.uid", message.uid(), kLongestUid));
  return pod;
}

// The PF: the name of an interface, or a PCI address.
Result<std::string> read_pf(const std::string& text) {
  if (!text.empty() && text.size() <= kLongestPf && is_utf8_word(text)) return text;
  return wrong("pf", text, "1 to " + std::to_string(kLongestPf) + " bytes of UTF-8 without spaces");
}

// Reads the fields that a BindRequest and a Binding have in common.
template <typename Message, typename Value>
Status read_device(const Message& message, Value& value) {
  value.attachment = TRY(from_message(message.attachment()));
  value.guid = TRY(read_guid("guid", message.guid()));
  value.guid_requested = message.chosen();
  value.pf = TRY(read_pf(message.pf()));
  if (message.pf_guid() != 0) value.pf_guid = TRY(read_guid("pf_guid", message.pf_guid()));
  value.device = TRY(read_pci("device", message.device()));
  value.pod = TRY(read_pod(message.pod()));
  return ok();
}

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

v1::Binding to_message(const fabric::Binding& binding) {
  v1::Binding message;
  write_device(binding, message);
  write_memberships(binding.desired, *message.mutable_shares());
  for (const ib::PKey key : binding.keys) message.add_pkeys(key.value());
  write_memberships(binding.applied, *message.mutable_held());
  message.set_generation(binding.generation);
  message.set_state(std::string(name(binding.state)));
  message.set_reason(std::string(name(binding.condition.reason)));
  message.set_text(cleaned(binding.condition.text));
  message.set_proof(std::string(name(binding.proof)));
  message.set_enforcement(std::string(name(binding.enforcement)));
  message.set_asked(binding.asked.time_since_epoch().count());
  message.set_changed(binding.changed.time_since_epoch().count());
  return message;
}

Result<fabric::Binding> from_message(const v1::Binding& message) {
  fabric::Binding binding;
  // An attachment without a binding has only these two fields.
  if (message.guid() == 0 && message.state() == name(fabric::BindingState::released)) {
    binding.attachment = TRY(from_message(message.attachment()));
    binding.state = fabric::BindingState::released;
    return binding;
  }
  TRY(read_device(message, binding));
  binding.kind = TRY(read_kind(message.kind()));
  binding.desired = TRY(read_memberships(message.shares(), "shares"));
  binding.keys = TRY(read_keys(message));
  binding.applied = TRY(read_memberships(message.held(), "held"));
  binding.generation = message.generation();
  TRY(read_condition(message, binding));
  binding.asked = fabric::WallTime(std::chrono::milliseconds(message.asked()));
  binding.changed = fabric::WallTime(std::chrono::milliseconds(message.changed()));
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
  fabric::Attachment attachment;
  attachment.node = TRY(read_name("attachment.node", message.node()));
  attachment.container = TRY(read_container("attachment.container", message.container()));
  attachment.interface = TRY(read_interface("attachment.interface", message.interface()));
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
  TRY(read_device(message, request));
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
  if (!message.node().empty()) filter.node = TRY(read_name("filter.node", message.node()));
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
