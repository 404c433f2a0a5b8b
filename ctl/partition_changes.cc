#include "ctl/partition_changes.h"

#include "ctl/partition_options.h"
#include "lib/fabricapi/fields.h"

namespace ibpod::ctl {
namespace {

using fabric::Partition;

struct Arguments {
  std::string name;
  PartitionOptions options;
  std::string guid, membership, comment;  // of a member
  bool forget_ports = false;
};
using ArgumentsPtr = std::shared_ptr<Arguments>;

// The partition as it is now -> as it is to be.
using Edit = std::function<Result<Partition>(const Partition&, const Arguments&)>;

Result<Answer> create(const Session& session, const ChangeAction& action,
                      const Arguments& arguments) {
  Partition partition;
  partition.name = arguments.name;
  partition = TRY(changed(partition, arguments.options).reported_as(kUsage));
  const auto service = TRY(session.service());
  return action(session, *service, {Change::Kind::create, partition});
}

Result<Answer> remove(const Session& session, const ChangeAction& action,
                      const Arguments& arguments) {
  Partition partition;
  partition.name = arguments.name;
  const auto service = TRY(session.service());
  return action(session, *service, {Change::Kind::remove, partition, {}, arguments.forget_ports});
}

Result<Answer> edit(const Session& session, const ChangeAction& action, const Arguments& arguments,
                    const Edit& how) {
  const auto service = TRY(session.service());
  const fabric::PartitionStatus now =
      TRY(find_partition(*service, arguments.name, session.deadline()));
  if (now.declared) {
    return Error(Code::denied,
                 "the partition " + arguments.name + " is declared in a file: change it there");
  }
  const Partition partition = TRY(how(now.spec, arguments));
  return action(session, *service, {Change::Kind::update, partition, now});
}

// Checks the arguments alone, before anything is sent.
Status check_update(const Arguments& arguments) {
  if (arguments.options == PartitionOptions{})
    return Error(Code::invalid, "update of partition " + arguments.name +
                                    " changes nothing: set what to change, for example --index0 "
                                    "(see `ibpodctl partition update --help`)");
  Partition any;
  any.name = arguments.name;
  TRY(changed(any, arguments.options));
  return ok();
}

Status check_member(const Arguments& arguments) {
  TRY(ib::Guid::parse(arguments.guid).during("GUID"));
  if (!arguments.membership.empty())
    TRY(fabricapi::read_membership("--membership", arguments.membership));
  return ok();
}

Result<Partition> add_member(const Partition& partition, const Arguments& arguments) {
  fabric::StaticMember member;
  member.guid = TRY(ib::Guid::parse(arguments.guid).during("GUID"));
  member.membership = partition.membership;
  if (!arguments.membership.empty())
    member.membership = TRY(fabricapi::read_membership("--membership", arguments.membership));
  member.comment = arguments.comment;
  return with_member(partition, member);
}

Result<Partition> remove_member(const Partition& partition, const Arguments& arguments) {
  const ib::Guid guid = TRY(ib::Guid::parse(arguments.guid).during("GUID"));
  return without_member(partition, guid);
}

std::vector<Option> partition_options(PartitionOptions& options) {
  return {
      {"--membership", &options.membership,
       "default membership of bindings: limited (default), full, both"},
      {"--index0", &options.index0,
       "put its P_Key at index 0 of the P_Key tables of VFs and members"},
      {"--ipoib", &options.ipoib, "IPoIB broadcast group, yes or no; fabric: the fabric's default"},
      {"--mtu", &options.mtu, "MTU of the group, in bytes; fabric: the fabric's default"},
      {"--rate", &options.rate, "rate of the group, in Gb/s; fabric: the fabric's default"},
      {"--sl", &options.sl, "service level, 0 to 15; fabric: the fabric's default"},
      {"--proof", &options.proof,
       "proof that verifies a binding: node (default: the P_Keys were read by the node or from the "
       "port), port (they were read from the port), none (not required while the port is not on "
       "the "
       "subnet)"},
      {"--allow", &options.allow, "namespace whose pods may be in it, repeatable; '*/*' for all"},
      {"--node", &options.add_nodes,
       "node on which these pods may run, repeatable; may contain one *; without this option, "
       "every "
       "node"},
  };
}

// One that begins with the partition's name.
Command of(const std::string& name, const std::string& help, const ArgumentsPtr& arguments,
           std::vector<Option> options = {}) {
  options.insert(options.begin(), {"NAME", &arguments->name, "name of the partition"});
  return {.name = name, .help = help, .options = std::move(options)};
}

Command create_command(Session& session, const ChangeAction& action) {
  const auto arguments = std::make_shared<Arguments>();
  Command command =
      of("create", "create a partition", arguments, partition_options(arguments->options));
  command.options.push_back({"--pkey", &arguments->options.pkey,
                             "P_Key, 0x0001 to 0x7ffe; by default one from the pool"});
  command.run = [&session, action, arguments] { return create(session, action, *arguments); };
  return command;
}

Command delete_command(Session& session, const ChangeAction& action) {
  const auto arguments = std::make_shared<Arguments>();
  Command command =
      of("delete", "delete a partition without bindings", arguments,
         {{"--forget-ports", &arguments->forget_ports,
           "do not wait for former members whose P_Key table cannot be read. A port that "
           "comes back with the P_Key reaches the ports of the next partition with this "
           "P_Key, until ibpod-sm finds and removes it (look.scanSeconds)"}});
  command.run = [&session, action, arguments] { return remove(session, action, *arguments); };
  return command;
}

Command update_command(Session& session, const ChangeAction& action) {
  const auto arguments = std::make_shared<Arguments>();
  Command command =
      of("update", "change the given properties of a partition; the P_Key cannot change", arguments,
         partition_options(arguments->options));
  command.options.push_back(
      {"--disallow", &arguments->options.disallow, "remove a namespace from --allow, repeatable"});
  command.options.push_back(
      {"--remove-node", &arguments->options.remove_nodes, "remove a node from --node, repeatable"});
  const Edit how = [](const Partition& partition, const Arguments& what) {
    return changed(partition, what.options);
  };
  command.run = [&session, action, arguments, how]() -> Result<Answer> {
    TRY(check_update(*arguments).reported_as(kUsage));
    return edit(session, action, *arguments, how);
  };
  return command;
}

Command member_command(Session& session, const ChangeAction& action) {
  const auto added = std::make_shared<Arguments>(), removed = std::make_shared<Arguments>();
  Command add = of("add", "add a port, or change its membership", added,
                   {{"GUID", &added->guid, "GUID of the port"},
                    {"--membership", &added->membership, "by default the partition's membership"},
                    {"--comment", &added->comment, "what the port belongs to"}});
  add.run = [&session, action, added]() -> Result<Answer> {
    TRY(check_member(*added).reported_as(kUsage));
    return edit(session, action, *added, add_member);
  };
  Command take =
      of("remove", "remove a port", removed, {{"GUID", &removed->guid, "GUID of the port"}});
  take.run = [&session, action, removed]() -> Result<Answer> {
    TRY(check_member(*removed).reported_as(kUsage));
    return edit(session, action, *removed, remove_member);
  };
  return {.name = "member",
          .help = "ports outside Kubernetes, for example of storage",
          .commands = {add, take}};
}

}  // namespace

std::vector<Command> partition_changes(Session& session, const ChangeAction& action) {
  return {create_command(session, action), update_command(session, action),
          delete_command(session, action), member_command(session, action)};
}

}  // namespace ibpod::ctl
