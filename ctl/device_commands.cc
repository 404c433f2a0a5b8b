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
          .help = "this node's InfiniBand functions: pool, health, whose they are",
          .run = [&session] { return show_devices(session); }};
}

Command attachments_command(Session& session) {
  return {.name = "attachments",
          .help = "what pods of this node have, and what waits for its clean-up",
          .run = [&session] { return show_attachments(session); }};
}

}  // namespace ibpod::ctl
