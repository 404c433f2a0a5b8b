#include "lib/attach/binding.h"

#include "lib/attach/agent_client.h"
#include "lib/attach/attachment_driver.h"
#include "lib/cni/errors.h"
#include "lib/node/vf.h"

#include <algorithm>
#include <cctype>

namespace ibpod::attach {
namespace {

using nodeapi::Binding;
using nodeapi::Node;

// Time that a DEL waits for the keys to go, as the runtime waits for it; afterwards the agent
// watches them.
constexpr Duration kUntilGone{15'000};
// If an earlier call has waited already, the wait is shorter: other attachments wait for their
// sweep.
constexpr Duration kUntilGoneAgain{1'000};

nodeapi::AttachmentName name_in_node(const node::Record& record) {
  return {record.container_id, record.ifname, record.attempt};
}

std::string partitions_of(const node::Record& record) {
  std::string text = record.spec.partitions.size() == 1 ? "partition " : "partitions ";
  for (const node::PartitionRequest& request : record.spec.partitions)
    text += (text.ends_with(' ') ? "" : ", ") + request.label();
  return text;
}

std::string words(const Binding& binding) {
  if (!binding.text.empty()) return binding.text;
  return binding.state.empty() ? "its state is not known" : "its state is " + binding.state;
}

// The state comes from the SM service, so there is none before its first answer.
std::string details_of(const Binding& binding) {
  if (binding.state.empty()) return "state not known: the SM service has not answered";
  return "state " + binding.state + (binding.reason.empty() ? "" : ", reason " + binding.reason);
}

// True if a later try may succeed.
bool is_transient(const Error& error) {
  return error.code() == Code::unavailable || error.code() == Code::busy;
}

// True if the key may be a misspelled name of a partition's key: "partitoin", "P_Key".
bool may_name_partition(std::string_view key) {
  key.remove_prefix(key.rfind('.') + 1);
  std::string letters;
  for (const char c : key)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters.find("part") != letters.npos || letters.find("tition") != letters.npos ||
         letters.find("pkey") != letters.npos;
}

// True if the keys were read in the port's table, from the subnet or by the node.
bool is_verified(const Binding& binding) {
  return binding.proof == "port" || binding.proof == "node";
}

// Refuses a proof that this version does not know.
Status check_proof(const Binding& binding, const node::Record& record) {
  if (is_verified(binding) || binding.proof == "none") return ok();
  return Error(Code::internal, partitions_of(record) + ": unexpected proof \"" + binding.proof +
                                   "\" from the agent: expected port, node or none");
}

// An error unless there is a key for each partition: the child could be on the wrong one.
Result<std::vector<ib::PKey>> keys_of(const Binding& binding, const node::Record& record) {
  if (binding.keys.size() == record.spec.partitions.size()) return binding.keys;
  return Error(Code::internal, partitions_of(record) + ": expected " +
                                   std::to_string(record.spec.partitions.size()) +
                                   " P_Keys from the agent, got " +
                                   std::to_string(binding.keys.size()));
}

}  // namespace

Result<node::Spec> to_partition_request(node::Spec spec) {
  if (!spec.pkey) return spec;
  TRY(ib::check_tenant(*spec.pkey).during("pkey"));
  const bool full = spec.pkey->membership() == ib::Membership::full;
  spec.partitions = {{"", full ? "full" : "", ib::PKey(spec.pkey->partition())}};
  spec.pkey.reset();
  return spec;
}

Status require_partition(const node::Spec& spec, const std::vector<std::string>& unknown) {
  if (spec.pkey || !spec.partitions.empty()) return ok();
  const auto slip = std::find_if(unknown.begin(), unknown.end(), may_name_partition);
  const std::string meant =
      slip == unknown.end() ? ""
                            : "; the key \"" + *slip + "\" is unknown: did you mean \"partition\"?";
  return Error(Code::invalid,
               "partition: the network names none" + meant +
                   "; this node's agent refuses such networks, because their pods would be in the "
                   "default partition: set \"partition\" or \"pkey\" in the network, or "
                   "\"withoutPartition\": \"allow\" in the agent's configuration");
}

Status require_sm(const Context& context, Deadline deadline) {
  if (context.host.sm_managed) return ok();
  const Result<v1::HealthResponse> health =
      timed(context, "ask the node's agent for its health",
            [&] { return context.host.agent.connect()->health(deadline.at_most(kAgentTimeout)); });
  if (health && health->binds()) return ok();
  if (health)
    return Error(Code::invalid,
                 "partition: this node's agent has no SM service: configure it under \"fabrics\" "
                 "in the agent's configuration, or set pkey instead of partition");
  return Error(Code::unavailable,
               "partition: this node's agent, which has to bind it, does not answer (" +
                   health.error().text() + "): start ibpod-agent");
}

Status begin_binding(const Context& context, const node::Record& record, Deadline deadline) {
  const Result<Binding> begun = timed(context, "begin the binding", [&] {
    return context.host.agent.connect()->bind(name_in_node(record), Node::Wait::no,
                                              deadline.at_most(kAgentTimeout));
  });
  // await_binding() asks again.
  if (begun || is_transient(begun.error())) return ok();
  return begun.error();
}

Status await_guid_grant(const Context& context, const node::Record& record, Deadline deadline) {
  std::string why;
  const auto ask = [&]() -> Result<bool> {
    const Result<Binding> told =
        context.host.agent.connect()->bind(name_in_node(record), Node::Wait::granted, deadline);
    if (!told && !is_transient(told.error())) return told.error();
    // The agent says `busy` with the reason why the GUID is not granted. Other errors often say
    // only that there was no time for an answer, and then the earlier reason is kept.
    const bool is_reason = !told && told.error().code() == Code::busy;
    if (is_reason || why.empty()) why = told ? words(*told) : told.error().text();
    return told && told->granted;
  };
  const bool granted = TRY(timed(context, "wait until the GUID is granted", [&] {
    return node::wait_until(context.host.kernel, deadline, ask);
  }));
  if (granted) return ok();
  return Error(Code::unavailable,
               "GUID " + record.spec.guids->port.text() + ": not granted yet: " + why);
}

Result<BindingResult> await_binding(const Context& context, const node::Record& record,
                                    Deadline deadline) {
  Binding binding;
  const auto ask = [&]() -> Result<bool> {
    Result<Binding> told =
        context.host.agent.connect()->bind(name_in_node(record), Node::Wait::verified, deadline);
    if (!told && !is_transient(told.error())) return told.error();
    if (told) binding = *told;
    // The last answer often says only that there was no time for one: the earlier cause is kept.
    const bool is_reason = binding.text.empty() || deadline.left() > Duration(0);
    if (!told && binding.state.empty() && is_reason) binding.text = told.error().text();
    if (told && told->verified()) TRY(check_proof(*told, record));
    // The keys must have been read in the port's table, unless a virtual machine has the port.
    return told && told->verified() &&
           (is_verified(*told) || node::is_vfio(record.original.driver));
  };
  const bool there = TRY(timed(context, "wait for the binding", [&] {
    return node::wait_until(context.host.kernel, deadline, ask);
  }));
  if (there) {
    const std::vector<ib::PKey> keys = TRY(keys_of(binding, record));
    return BindingResult{keys, is_verified(binding)};
  }
  return Error(Code::unavailable, partitions_of(record) + ": not verified: " + words(binding))
      .with_details(details_of(binding));
}

Status end_binding(const Context& context, const node::Record& record, Deadline deadline) {
  if (record.spec.partitions.empty()) return ok();
  const Binding binding = TRY(timed(context, "end the binding", [&] {
                                const Duration timeout = record.stage == node::Stage::pkey_pending
                                                             ? kUntilGoneAgain
                                                             : kUntilGone;
                                return context.host.agent.connect()->unbind(
                                    name_in_node(record), deadline.at_most(timeout));
                              }).during("the port may still be in " + partitions_of(record)));
  if (binding.released()) return ok();
  return Error(Code::unavailable,
               "the port may still be in " + partitions_of(record) + ": " + words(binding));
}

Status end_unread_binding(const Context& context, const node::RecordName& name, Deadline deadline) {
  if (!context.host.agent.is_required()) return ok();
  const Result<Binding> binding = context.host.agent.connect()->unbind(
      {name.container_id, name.ifname, ""}, deadline.at_most(kUntilGone));
  if (!binding && binding.error().code() == Code::unsupported) return ok();
  if (!binding) return binding.error();
  if (binding->released()) return ok();
  return Error(Code::unavailable,
               "record " + name.text() +
                   " is damaged, and its port may still be in a partition: " + words(*binding));
}

Result<std::vector<ib::PKey>> bound_keys(const Context& context, const node::Record& record) {
  const Binding binding =
      TRY(context.host.agent.connect()
              ->bind(name_in_node(record), Node::Wait::verified, Deadline::in(kAgentTimeout))
              .reported_as(cni::kCheckFailed));
  if (binding.verified()) return keys_of(binding, record);
  return differs(partitions_of(record) + ": not verified: " + words(binding));
}

}  // namespace ibpod::attach
