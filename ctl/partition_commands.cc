#include "ctl/partition_changes.h"
#include "ctl/print_partitions.h"

namespace ibpod::ctl {
namespace {

Answer shown(const Session& session, const fabric::PartitionStatus& status) {
  return session.answer(as_json(status), [&] { return as_text(status); });
}

Result<Answer> list(const Session& session) {
  const auto service = TRY(session.service());
  const auto partitions = TRY(all_partitions(*service, session.deadline()));
  return session.answer(as_json(partitions), [&] { return as_table(partitions); });
}

Result<Answer> get(const Session& session, const std::string& name) {
  const auto service = TRY(session.service());
  const auto status = TRY(find_partition(*service, name, session.deadline()));
  return shown(session, status);
}

Result<fabric::PartitionStatus> made(const Session& session, Service& service,
                                     const Change& change) {
  switch (change.kind) {
    case Change::Kind::create:
      return service.create_partition(change.partition, session.deadline());
    case Change::Kind::update:
      return service.update_partition(change.partition, session.deadline());
    case Change::Kind::remove:
      break;
  }
  if (change.forget_ports) return service.forget_ports(change.partition.name, session.deadline());
  return service.delete_partition(change.partition.name, session.deadline());
}

// A note about facts that the partition itself does not show.
std::string note_of(const Change& change, const fabric::PartitionStatus& status) {
  if (change.now && change.now->spec == change.partition)
    return "nothing changed: partition " + status.spec.name + " already has these properties";
  const bool waits = status.condition.reason != fabric::Reason::none;
  if (status.state == fabric::PartitionState::deleting && !waits)
    return "partition " + status.spec.name + " is gone: its name and P_Key are free";
  if (status.state == fabric::PartitionState::deleting)
    return "partition " + status.spec.name +
           " is being deleted: its name and P_Key are free when `ibpodctl partition list` no "
           "longer has it";
  if (status.state == fabric::PartitionState::provisioning)
    return "the change is not applied yet: wait until the STATE of partition " + status.spec.name +
           " is ready";
  return "";
}

Result<Answer> make(const Session& session, Service& service, const Change& change) {
  const auto status = TRY(made(session, service, change));
  Answer answer = shown(session, status);
  answer.note = note_of(change, status);
  return answer;
}

}  // namespace

Command partition_command(Session& session) {
  const auto name = std::make_shared<std::string>();
  Command command{.name = "partition",
                  .help = "partitions of the cluster",
                  .commands = {{.name = "list",
                                .help = "list all partitions",
                                .run = [&session] { return list(session); }},
                               {.name = "get",
                                .help = "show one partition with its members",
                                .options = {{"NAME", name.get(), "name of the partition"}},
                                .run = [&session, name] { return get(session, *name); }}}};
  for (Command& change : partition_changes(session, make))
    command.commands.push_back(std::move(change));
  return command;
}

}  // namespace ibpod::ctl
