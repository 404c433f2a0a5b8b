#include "sm/telemetry/ufm_telemetry.h"

namespace ibpod::sm::telemetry {
namespace {

using http::Family;
using http::Kind;

const Family kUfmCalls{"ibpod_sm_ufm_calls_total",
                       "Calls to UFM, by operation and result.",
                       Kind::counter,
                       {"operation", "result"}};
const Family kUfmSeconds{"ibpod_sm_ufm_call_seconds",
                         "Duration of the calls to UFM, with all their requests.",
                         Kind::histogram,
                         {"operation"},
                         {.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}};
const Family kUfmWidened{"ibpod_sm_ufm_widened_total",
                         "Members that UFM has made full although limited was requested.",
                         Kind::counter};
const Family kUfmIgnored{"ibpod_sm_ufm_ignored_total",
                         "Changes of members that UFM has accepted and then did not show.",
                         Kind::counter};
const Family kUfmForeign{
    "ibpod_sm_ufm_foreign_members",
    "Members of ibpod-sm's partitions that another client has put into UFM, at the last reading.",
    Kind::gauge};
const Family kUfmVfs{
    "ibpod_sm_ufm_mapped_vfs",
    "VFs of bindings whose GUID UFM accepts only behind their PF (confined=\"yes\"), "
    "and the others, with ufm.physicalVirtualMapping.",
    Kind::gauge,
    {"confined"}};

}  // namespace

const std::vector<Family>& ufm_families() {
  static const std::vector<Family> families{kUfmCalls,   kUfmSeconds, kUfmWidened,
                                            kUfmIgnored, kUfmForeign, kUfmVfs};
  return families;
}

void UfmTelemetry::called(std::string_view operation, std::optional<Code> failure,
                          std::chrono::duration<double> took) {
  const std::string result = failure ? std::string(name(*failure)) : "done";
  telemetry_.metrics().add(kUfmCalls, {std::string(operation), result});
  telemetry_.metrics().observe(kUfmSeconds, {std::string(operation)}, took.count());
}

void UfmTelemetry::set_members(const UfmMembers& members) {
  telemetry_.metrics().replace(kUfmWidened,
                               {http::Sample{{}, static_cast<double>(members.widened)}});
  telemetry_.metrics().replace(kUfmIgnored,
                               {http::Sample{{}, static_cast<double>(members.ignored)}});
  telemetry_.metrics().set(kUfmForeign, {}, static_cast<double>(members.foreign));
  telemetry_.metrics().set(kUfmVfs, {"yes"}, static_cast<double>(members.confined_vfs));
  telemetry_.metrics().set(kUfmVfs, {"no"}, static_cast<double>(members.unconfined_vfs));
}

}  // namespace ibpod::sm::telemetry
