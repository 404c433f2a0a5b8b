#include "ctl/print_bindings.h"
#include "ctl/session.h"
#include "lib/fabricapi/fields.h"

namespace ibpod::ctl {
namespace {

struct FilterArguments {
  fabricapi::BindingFilter filter;
  std::string guid, state;
};

Result<fabricapi::BindingFilter> filter_of(const FilterArguments& arguments) {
  fabricapi::BindingFilter filter = arguments.filter;
  if (!arguments.guid.empty())
    filter.guid = TRY(ib::Guid::parse(arguments.guid).during("--guid").reported_as(kUsage));
  if (!arguments.state.empty())
    filter.state = TRY(fabricapi::read_state("--state", arguments.state).reported_as(kUsage));
  return filter;
}

Result<Answer> list(const Session& session, const FilterArguments& arguments) {
  const fabricapi::BindingFilter filter = TRY(filter_of(arguments));
  const auto service = TRY(session.service());
  const auto bindings = TRY(all_bindings(*service, filter, session.deadline()));
  return session.answer(as_json(bindings), [&] { return as_table(bindings); });
}

Result<Answer> get(const Session& session, const fabric::Attachment& attachment) {
  const auto service = TRY(session.service());
  const auto binding = TRY(service->get_binding(attachment, session.deadline()));
  return session.answer(as_json(binding), [&] { return as_text(binding); });
}

Result<Answer> release(const Session& session, const fabric::Attachment& attachment) {
  const auto service = TRY(session.service());
  // One that there is not counts as released for a node, and would be told so.
  TRY(service->get_binding(attachment, session.deadline()));
  const auto binding = TRY(service->unbind(attachment, session.deadline()));
  const int exit = binding.state == fabric::BindingState::released ? 0 : kNotYet;
  return session.answer(
      as_json(binding), [&] { return as_text(binding); }, exit);
}

using BindingAction = Result<Answer> (*)(const Session&, const fabric::Attachment&);

Command of_one(Session& session, const std::string& name, const std::string& help,
               BindingAction what) {
  const auto attachment = std::make_shared<fabric::Attachment>();
  return {.name = name,
          .help = help,
          .options = {{"NODE", &attachment->node, "name of the node"},
                      {"CONTAINER", &attachment->container, "full container ID"},
                      {"INTERFACE", &attachment->interface, "interface in the pod, such as net1"}},
          .run = [&session, attachment, what] { return what(session, *attachment); }};
}

Command list_command(Session& session) {
  const auto arguments = std::make_shared<FilterArguments>();
  return {.name = "list",
          .help = "list bindings, all or those that match",
          .options = {{"--node", &arguments->filter.node, "name of the node"},
                      {"--partition", &arguments->filter.partition, "name of the partition"},
                      {"-n,--namespace", &arguments->filter.name_space, "namespace of the pod"},
                      {"--pod", &arguments->filter.pod, "name of the pod"},
                      {"--guid", &arguments->guid, "GUID of the port"},
                      {"--state", &arguments->state,
                       "state: requested, written, verified, releasing, released, unknown"}},
          .run = [&session, arguments] { return list(session, *arguments); }};
}

}  // namespace

Command binding_command(Session& session) {
  return {
      .name = "binding",
      .help = "bindings: the partitions of pods' ports",
      .commands = {list_command(session), of_one(session, "get", "show one binding", get),
                   of_one(session, "release",
                          "remove its P_Keys from the port, even if the pod still runs; exit code "
                          "1: the port still has them",
                          release)}};
}

}  // namespace ibpod::ctl
