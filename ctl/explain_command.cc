#include "ctl/print.h"
#include "ctl/print_plan.h"
#include "ctl/session.h"
#include "ctl/subject.h"

namespace ibpod::ctl {
namespace {

struct Arguments {
  std::vector<std::string> words;
  std::string name_space = "default";
};

Result<Answer> explain_device(const Session& session, const ib::PciAddress& address) {
  const auto explanation =
      TRY(session.agent(session.paths.agent)->explain(address.text(), session.deadline()));
  return session.answer(as_json(explanation), [&] { return as_text(explanation); });
}

Result<Answer> explain(const Session& session, const Arguments& arguments) {
  const std::optional<ib::PciAddress> device = device_of(arguments.words);
  if (device) return explain_device(session, *device);
  fabricapi::ExplainRequest request;
  request.subjects = TRY(subjects_of(arguments.words, arguments.name_space).reported_as(kUsage));
  const auto service = TRY(session.service());
  const auto explanation = TRY(service->explain(request, session.deadline()));
  return session.answer(as_json(explanation), [&] { return as_text(explanation); });
}

}  // namespace

Command explain_command(Session& session) {
  const auto arguments = std::make_shared<Arguments>();
  return {
      .name = "explain",
      .help =
          "explain a pod (NAMESPACE/NAME) or port (GUID): partitions, P_Key tables and faults; "
          "two of them: in which partitions they reach each other, or why not; a device of this "
          "node (PCI address): why it is in its pool, or in none",
      .options = {{"WHAT", &arguments->words,
                   "for example team-a/web-0, 00:02:c9:03:00:a1:b2:c3 or 0000:3b:00.2"},
                  {"-n,--namespace", &arguments->name_space,
                   "namespace of pods that are given without one"}},
      .run = [&session, arguments] { return explain(session, *arguments); }};
}

}  // namespace ibpod::ctl
