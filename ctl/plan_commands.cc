#include "ctl/partition_changes.h"
#include "ctl/print_plan.h"

namespace ibpod::ctl {
namespace {

Result<Answer> show(const Session& session, Service& service,
                    const fabricapi::PlanRequest& request) {
  const auto plan = TRY(service.plan(request, session.deadline()));
  return session.answer(as_json(plan), [&] { return as_text(plan); });
}

Result<Answer> plan_change(const Session& session, Service& service, const Change& change) {
  fabricapi::PlanRequest request;
  if (change.kind == Change::Kind::remove) {
    request.without = change.partition.name;
  } else {
    request.partition = change.partition;
    request.update = change.kind == Change::Kind::update;
  }
  return show(session, service, request);
}

Result<Answer> plan_rest(const Session& session) {
  const auto service = TRY(session.service());
  return show(session, *service, {});
}

}  // namespace

Command plan_command(Session& session) {
  return {.name = "plan",
          .help =
              "show what a change would do, without doing it: put `plan` before `partition "
              "create`, `update`, `delete` or `member`; alone: changes that are not applied yet",
          .commands = {{.name = "partition",
                        .help = "plan a change of a partition",
                        .commands = partition_changes(session, plan_change)}},
          .run = [&session] { return plan_rest(session); }};
}

}  // namespace ibpod::ctl
