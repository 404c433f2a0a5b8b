#include "ctl/print.h"
#include "ctl/session.h"

namespace ibpod::ctl {
namespace {

Result<Answer> show_devices(const Session& session) {
  const auto devices = TRY(session.agent(session.paths.agent)->devices(session.deadline()));
  return session.answer(as_json(devices), [&] { return as_table(devices); });
}

Result<Answer> show_attachments(const Session& session) {
  const auto attachments = TRY(session.agent(session.paths.agent)->attachments(session.deadline()));
  return session.answer(as_json(attachments), [&] { return as_table(attachments); });
}

}  // namespace

Command devices_command(Session& session) {
  return {.name = "devices",
          .help = "list this node's InfiniBand functions with pool, health and attachment",
          .run = [&session] { return show_devices(session); }};
}

Command attachments_command(Session& session) {
  return {.name = "attachments",
          .help = "list the attachments of this node's pods, and those that wait for clean-up",
          .run = [&session] { return show_attachments(session); }};
}

}  // namespace ibpod::ctl
