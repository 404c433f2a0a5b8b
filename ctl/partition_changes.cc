#include "ctl/partition_changes.h"

#include "ctl/partition_options.h"
#include "lib/fabricapi/fields.h"

namespace ibpod::ctl {
namespace {

using fabric::Tenancy;

struct Typed {
  std::string name;
  TenancyOptions options;
  std::string guid, membership, comment;  // of a member
  bool forget_ports = false;
};
using TypedPtr = std::shared_ptr<Typed>;

// The partition as it is now -> as it is to be.
using Edit = std::function<Result<Tenancy>(const Tenancy&, const Typed&)>;

Result<Answer> create(const Session& session, const Act& act, const Typed& typed) {
  Tenancy tenancy;
  tenancy.name = typed.name;
  tenancy = TRY(changed(tenancy, typed.options).reported_as(kUsage));
  const auto service = TRY(session.service());
  return act(session, *service, {Change::Kind::create, tenancy});
}

Result<Answer> remove(const Session& session, const Act& act, const Typed& typed) {
  Tenancy tenancy;
  tenancy.name = typed.name;
  const auto service = TRY(session.service());
  return act(session, *service, {Change::Kind::remove, tenancy, {}, typed.forget_ports});
}

Result<Answer> edit(const Session& session, const Act& act, const Typed& typed, const Edit& how) {
  const auto service = TRY(session.service());
  const fabric::TenancyStatus now = TRY(find_partition(*service, typed.name, session.deadline()));
  if (now.declared) {
    return Error(Code::denied,
                 "the partition " + typed.name + " is declared in a file: change it there");
  }
  const Tenancy tenancy = TRY(how(now.tenancy, typed));
  return act(session, *service, {Change::Kind::update, tenancy, now});
}

// What can be said of the words alone, before anybody is asked.
Status check_update(const Typed& typed) {
  if (typed.options == TenancyOptions{})
    return Error(Code::invalid, "update of partition " + typed.name +
                                    " changes nothing: say what is to change, --index0 for "
                                    "example (`ibpodctl partition update --help` has all)");
  Tenancy any;
  any.name = typed.name;
  TRY(changed(any, typed.options));
  return ok();
}

Status check_member(const Typed& typed) {
  TRY(ib::Guid::parse(typed.guid).during("GUID"));
  if (!typed.membership.empty()) TRY(fabricapi::read_membership("--membership", typed.membership));
  return ok();
}

Result<Tenancy> add_member(const Tenancy& tenancy, const Typed& typed) {
  fabric::StaticMember member;
  member.guid = TRY(ib::Guid::parse(typed.guid).during("GUID"));
  member.membership = tenancy.membership;
  if (!typed.membership.empty())
    member.membership = TRY(fabricapi::read_membership("--membership", typed.membership));
  member.comment = typed.comment;
  return with_member(tenancy, member);
}

Result<Tenancy> remove_member(const Tenancy& tenancy, const Typed& typed) {
  const ib::Guid guid = TRY(ib::Guid::parse(typed.guid).during("GUID"));
  return without_member(tenancy, guid);
}

std::vector<Option> tenancy_options(TenancyOptions& options) {
  return {
      {"--membership", &options.membership,
       "of bindings that name none: limited (if not given), full, both"},
      {"--index0", &options.index0, "its key takes index 0 of the tables of VFs and members"},
      {"--ipoib", &options.ipoib,
       "whether it has an IPoIB broadcast group, yes or no; fabric: what all have"},
      {"--mtu", &options.mtu, "of the group, in bytes; fabric: what all have"},
      {"--rate", &options.rate, "of the group, in Gb/s; fabric: what all have"},
      {"--sl", &options.sl, "its service level, 0 to 15; fabric: what all have"},
      {"--proof", &options.proof,
       "what a binding needs to be verified: node (if not given: its node has seen the keys, or "
       "the port has said so), port (only the port counts), none (nobody need have seen them while "
       "the port is not on the subnet)"},
      {"--allow", &options.allow,
       "a namespace whose pods may be in it, once more for each; '*' for all"},
      {"--node", &options.add_nodes,
       "a node on which they may be, once more for each; one * in it stands for anything; without "
       "any they may be on every node"},
  };
}

// One that begins with the partition's name.
Command of(const std::string& name, const std::string& help, const TypedPtr& typed,
           std::vector<Option> options = {}) {
  options.insert(options.begin(), {"NAME", &typed->name, "of the partition"});
  return {.name = name, .help = help, .options = std::move(options)};
}

Command create_command(Session& session, const Act& act) {
  const auto typed = std::make_shared<Typed>();
  Command command = of("create", "a new one", typed, tenancy_options(typed->options));
  command.options.push_back(
      {"--pkey", &typed->options.pkey, "0x0001 to 0x7ffe; if not given from the pool"});
  command.run = [&session, act, typed] { return create(session, act, *typed); };
  return command;
}

Command delete_command(Session& session, const Act& act) {
  const auto typed = std::make_shared<Typed>();
  Command command = of("delete", "one that no binding is in", typed,
                       {{"--forget-ports", &typed->forget_ports,
                         "do not wait for former members that cannot be asked whether they still "
                         "hold its P_Key. One that comes back with it reaches the ports of the "
                         "next partition with this P_Key, until ibpod-sm sees and removes it "
                         "(look.scanSeconds)"}});
  command.run = [&session, act, typed] { return remove(session, act, *typed); };
  return command;
}

Command update_command(Session& session, const Act& act) {
  const auto typed = std::make_shared<Typed>();
  Command command =
      of("update", "what is given changes, and the rest stays as it is; the P_Key cannot change",
         typed, tenancy_options(typed->options));
  command.options.push_back({"--disallow", &typed->options.disallow,
                             "a namespace that is not allowed any more, once more for each"});
  command.options.push_back({"--remove-node", &typed->options.remove_nodes,
                             "a --node that counts no more, once more for each"});
  const Edit how = [](const Tenancy& tenancy, const Typed& what) {
    return changed(tenancy, what.options);
  };
  command.run = [&session, act, typed, how]() -> Result<Answer> {
    TRY(check_update(*typed).reported_as(kUsage));
    return edit(session, act, *typed, how);
  };
  return command;
}

Command member_command(Session& session, const Act& act) {
  const auto added = std::make_shared<Typed>(), removed = std::make_shared<Typed>();
  Command add = of("add", "a port, or its membership anew", added,
                   {{"GUID", &added->guid, "of the port"},
                    {"--membership", &added->membership, "if not given the partition's own"},
                    {"--comment", &added->comment, "whose it is"}});
  add.run = [&session, act, added]() -> Result<Answer> {
    TRY(check_member(*added).reported_as(kUsage));
    return edit(session, act, *added, add_member);
  };
  Command take = of("remove", "a port", removed, {{"GUID", &removed->guid, "of the port"}});
  take.run = [&session, act, removed]() -> Result<Answer> {
    TRY(check_member(*removed).reported_as(kUsage));
    return edit(session, act, *removed, remove_member);
  };
  return {.name = "member",
          .help = "ports outside Kubernetes: storage, for example",
          .commands = {add, take}};
}

}  // namespace

std::vector<Command> partition_changes(Session& session, const Act& act) {
  return {create_command(session, act), update_command(session, act), delete_command(session, act),
          member_command(session, act)};
}

}  // namespace ibpod::ctl
