#include "ctl/print_bindings.h"
#include "ctl/session.h"

namespace ibpod::ctl {
namespace {

Result<Answer> list(const Session& session) {
  const auto service = TRY(session.service());
  const auto nodes = TRY(service->list_nodes(session.deadline()));
  return session.answer(as_json(nodes), [&] { return as_table(nodes); });
}

Result<Answer> forget(const Session& session, const std::string& name) {
  const auto service = TRY(session.service());
  const auto node = TRY(service->forget_node(name, session.deadline()));
  const int exit = node.bindings == 0 ? 0 : kNotYet;
  return session.answer(
      as_json(node), [&] { return as_table(std::vector{node}); }, exit);
}

}  // namespace

Command node_command(Session& session) {
  const auto name = std::make_shared<std::string>();
  return {.name = "node",
          .help = "nodes that the SM service knows",
          .commands = {
              {.name = "list", .help = "all of them", .run = [&session] { return list(session); }},
              {.name = "forget",
               .help = "one that does not come back: releases all that it has, and frees "
                       "its GUIDs. Its devices have to be out of use. Exit 1: not all is "
                       "released yet",
               .options = {{"NODE", name.get(), "its name"}},
               .run = [&session, name] { return forget(session, *name); }}}};
}

}  // namespace ibpod::ctl
