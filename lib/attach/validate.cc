#include "lib/attach/validate.h"

#include "lib/attach/addresses.h"
#include "lib/cni/errors.h"

namespace ibpod::attach {
namespace {

Result<node::Namespace> pod_namespace(const Context& context) {
  const std::optional<node::Namespace> pod = TRY(context.kernel.find_namespace(context.call.netns)
                                                     .during("CNI_NETNS")
                                                     .reported_as(cni::kInvalidEnvironment));
  if (!pod) {
    return Error(Code::not_found,
                 "CNI_NETNS: there is no network namespace at " + context.call.netns.string())
        .reported_as(cni::kUnknownContainer);
  }
  const bool own = TRY(is_own_namespace(context, *pod));
  if (own) {
    return Error(Code::invalid, "CNI_NETNS: " + context.call.netns.string() +
                                    " is the host's own network namespace: a pod with hostNetwork "
                                    "needs no attachment")
        .reported_as(cni::kInvalidEnvironment);
  }
  return *pod;
}

Status check_name_is_free(const Context& context, const node::Namespace& pod) {
  const std::optional<node::Netdev> taken =
      TRY(context.kernel.find_netdev(pod, context.call.ifname));
  if (!taken) return ok();
  return Error(Code::exists, "CNI_IFNAME: the pod already has an interface " + context.call.ifname);
}

}  // namespace

Result<bool> is_own_namespace(const Context& context, const node::Namespace& where) {
  const std::optional<node::Namespace> own =
      TRY(context.kernel.find_namespace("/proc/self/ns/net"));
  return own && own->identity == where.identity;
}

Status check_records(const Context& context) {
  if (!context.expects_records || context.records.has_folder()) return ok();
  return Error(
             Code::unavailable,
             "records of attachments: " + context.records.folder().string() +
                 " is missing, although this node's agent created it: mount its disk; if the "
                 "records are lost, create the folder, and DEL restores what it finds without them")
      .reported_as(cni::kTryAgainLater);
}

Status check_still_there(const Context& context, const node::Namespace& pod) {
  const std::optional<node::Namespace> now = TRY(context.kernel.find_namespace(pod.path));
  if (now == pod) return ok();
  return Error(Code::not_found, "CNI_NETNS: the network namespace " + pod.path.string() +
                                    " has ended while the attachment was being made")
      .reported_as(cni::kUnknownContainer);
}

Status check_still_ours(const Context& context, const node::Record& record) {
  const Result<node::Record> now = context.records.read(name_of(record));
  if (now && *now == record) return check_still_there(context, record.netns);
  return Error(Code::unavailable, "the attachment was deleted while it was being made");
}

Result<Validated> validate(const Context& context, AttachmentDriver& driver, Deadline deadline) {
  TRY(check_records(context));
  Validated validated;
  validated.pod = TRY(pod_namespace(context));
  TRY(check_name_is_free(context, validated.pod));
  TRY(driver.check_usable(context));
  validated.ipam = TRY(ipam_of(context, context.network));
  if (validated.ipam) {
    TRY(timed(context, "IPAM VERSION", [&] { return validated.ipam->check_version(deadline); }));
  }
  return validated;
}

}  // namespace ibpod::attach
