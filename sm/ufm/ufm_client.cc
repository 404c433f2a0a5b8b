#include "sm/ufm/ufm_client.h"

#include "lib/https/failure.h"
#include "sm/ufm/messages.h"
#include "sm/ufm/values.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace ibpod::sm::ufm {
namespace {

std::string partitions_path(std::string_view rest = {}) {
  return std::string("/resources/pkeys").append(rest);
}

constexpr const char* kGroups = "/app/smconf/physical_virtual_mapping";
constexpr std::string_view kGuidsData = "?guids_data=true";  // with qos_conf it breaks the list

Status check_change_of(ib::PKey pkey, const std::vector<ib::Guid>& guids) {
  TRY(ib::check_tenant(pkey));
  if (pkey.value() != pkey.partition())
    return Error(Code::invalid, "the P_Key " + pkey.text() + ": expected bit 15 clear");
  if (guids.empty() || guids.size() > kMostGuids)
    return Error(Code::invalid, "expected 1 to " + std::to_string(kMostGuids) + " GUIDs, got " +
                                    std::to_string(guids.size()));
  for (const ib::Guid guid : guids) TRY(ib::check_port_guid(guid));
  return ok();
}

Status check_group(ib::Guid physical, const std::vector<ib::Guid>& vfs) {
  if (vfs.empty() || vfs.size() > kMostVfs)
    return Error(Code::invalid, "expected 1 to " + std::to_string(kMostVfs) +
                                    " virtual GUIDs behind a port, got " +
                                    std::to_string(vfs.size()));
  TRY(ib::check_port_guid(physical));
  for (const ib::Guid vf : vfs) TRY(ib::check_port_guid(vf));
  return ok();
}

bool names_any(std::string text, const std::vector<ib::Guid>& guids) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return std::any_of(guids.begin(), guids.end(),
                     [&text](ib::Guid guid) { return text.find(guid_text(guid)) != text.npos; });
}

RestCall get_list(const std::string& path) {
  return {.method = "GET", .path = path, .most_bytes = kMostListBytes};
}

}  // namespace

UfmClient::UfmClient(const ClientSettings& settings, CallObserver observer, SingleReadLimits limits)
    : servers_(settings), observer_(std::move(observer)), limits_(limits) {}

template <typename Call>
auto UfmClient::observed(std::string_view operation, const Call& call) -> decltype(call()) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  auto result = call();
  const auto failure = result ? std::nullopt : std::optional(result.error().code());
  if (observer_)
    observer_(operation, failure, std::chrono::duration_cast<Duration>(Clock::now() - start));
  return result;
}

template <typename T>
Result<T> UfmClient::get(const std::string& path, Result<T> (*parse)(std::string_view),
                         Code missing) {
  std::optional<T> value;
  TRY(servers_.call(get_list(path), [&](const https::Answer& answer) -> Status {
    if (https::is_not_found(answer))
      return Error(missing, "answered " + std::to_string(answer.status) +
                                ": this release of UFM does not serve it");
    value = TRY(parse(answer.body));
    return ok();
  }));
  return std::move(*value);
}

// Calls that belong together must all go to one server.
Status UfmClient::check_same_master(uint64_t generation) const {
  if (generation == 0 || servers_.master_generation() == generation) return ok();
  return Error(Code::unavailable, "another server of UFM became the master between two requests");
}

// A P_Key is only taken for absent if the list of all says so: a wrong address answers 404, too.
Result<bool> UfmClient::exists(ib::PKey pkey) {
  const uint64_t generation = servers_.master_generation();
  const auto list = TRY(get(partitions_path(), parse_partitions, Code::unavailable));
  TRY(check_same_master(generation));
  return std::any_of(list.begin(), list.end(), [pkey](const ListedPartition& listed) {
    return listed.partition.pkey == pkey;
  });
}

Result<std::optional<UfmPartition>> UfmClient::read_one(ib::PKey pkey) {
  std::optional<UfmPartition> found;
  const std::string path = partitions_path("/" + pkey_text(pkey)).append(kGuidsData);
  TRY(servers_.call(get_list(path), [&](const https::Answer& answer) -> Status {
    found.reset();
    if (https::is_not_found(answer)) return ok();
    found = TRY(parse_partition(answer.body, pkey));
    return ok();
  }));
  if (found) return found;
  const bool listed = TRY(exists(pkey));
  if (!listed) return found;
  return Error(Code::unavailable,
               "UFM lists the P_Key " + pkey.text() + ", but does not answer about it alone");
}

Result<std::vector<UfmPartition>> UfmClient::read_all() {
  auto list = TRY(get(partitions_path(kGuidsData), parse_partitions, Code::unavailable));
  const auto unread = [](const ListedPartition& listed) { return !listed.has_members; };
  const auto count = static_cast<size_t>(std::count_if(list.begin(), list.end(), unread));
  if (count > limits_.requests)
    return Error(Code::unavailable, "UFM lists " + std::to_string(count) +
                                        " partitions without members; ibpod-sm reads at most " +
                                        std::to_string(limits_.requests) + " one by one");
  const uint64_t generation = servers_.master_generation();
  const Deadline deadline = Deadline::in(limits_.time);
  std::vector<UfmPartition> partitions;
  for (ListedPartition& listed : list) {
    std::optional<UfmPartition> partition = std::move(listed.partition);
    if (unread(listed) && deadline.passed())
      return Error(Code::unavailable, "the partitions could not be read one by one within " +
                                          std::to_string(limits_.time.count() / 1000) + " s");
    if (unread(listed)) partition = TRY(read_one(partition->pkey));
    if (partition) partitions.push_back(std::move(*partition));
  }
  TRY(check_same_master(generation));
  return partitions;
}

// The P_Key is missing if UFM answers 404 without a word of the GUIDs, which may be missing, too.
Status UfmClient::post_members(const Addition& addition, bool& pkey_is_missing) {
  pkey_is_missing = false;
  return servers_.call(
      {.method = "POST", .path = partitions_path(), .body = write_addition(addition)},
      [&](const https::Answer& answer) -> Status {
        const std::optional<Error> failure = https::failure_of(answer);
        pkey_is_missing = answer.status == 404 && !names_any(answer.body, addition.guids);
        return failure ? *failure : check_change(answer.body);
      });
}

// If another client made it meanwhile, it may be that one's: it is read before it gets members.
Status UfmClient::create(const Addition& addition) {
  const Status created = servers_.call(
      {.method = "POST", .path = partitions_path("/add"), .body = write_creation(addition)},
      [](const https::Answer& answer) -> Status {
        const std::optional<Error> failure = https::failure_of(answer);
        return failure ? *failure : check_change(answer.body);
      });
  if (created || created.error().code() != Code::invalid) return created;
  const bool listed = TRY(exists(addition.pkey));
  if (!listed) return created;
  return Error(created.error()).as(Code::busy).during("the P_Key was made meanwhile");
}

// Releases differ in whether a POST of members makes the P_Key. A public client warns of /add, so
// it is only called where UFM has answered that the P_Key is missing, and its list agrees.
Status UfmClient::send_addition(const Addition& addition) {
  TRY(check_change_of(addition.pkey, addition.guids));
  bool is_missing = false;
  const Status added = post_members(addition, is_missing);
  if (!is_missing) return added;
  const bool listed = TRY(exists(addition.pkey));
  if (listed) return added;
  TRY(create(addition));
  return post_members(addition, is_missing);
}

// False if UFM does not serve this form, or has no such partition.
Result<bool> UfmClient::try_removal(bool by_action, ib::PKey pkey,
                                    const std::vector<ib::Guid>& guids) {
  bool done = false;
  const std::string path = partitions_path("/" + pkey_text(pkey) + "/guids/" + join_guids(guids));
  const RestCall call = by_action ? RestCall{.method = "POST",
                                             .path = "/actions/remove_guids_from_pkey",
                                             .body = write_removal(pkey, guids)}
                                  : RestCall{.method = "DELETE", .path = path};
  TRY(servers_.call(call, [&](const https::Answer& answer) -> Status {
    done = !https::is_not_found(answer);
    return done ? check_change(answer.body) : ok();
  }));
  return done;
}

Status UfmClient::send_removal(ib::PKey pkey, const std::vector<ib::Guid>& guids) {
  TRY(check_change_of(pkey, guids));
  for (const bool by_action : {removes_by_action_, !removes_by_action_}) {
    const bool done = TRY(try_removal(by_action, pkey, guids));
    if (done) {
      removes_by_action_ = by_action;
      return ok();
    }
    const bool listed = TRY(exists(pkey));
    if (!listed) return ok();
  }
  return Error(Code::invalid, "UFM has the P_Key " + pkey.text() +
                                  ", but answers both forms of a removal with 404 or 405");
}

Result<std::vector<UfmPartition>> UfmClient::partitions() {
  return observed("partitions", [&] { return read_all(); });
}
Result<std::optional<UfmPartition>> UfmClient::partition(ib::PKey pkey) {
  return observed("partition", [&] { return read_one(pkey); });
}
Status UfmClient::add(const Addition& addition) {
  return observed("add", [&] { return send_addition(addition); });
}
Status UfmClient::remove(ib::PKey pkey, const std::vector<ib::Guid>& guids) {
  return observed("remove", [&] { return send_removal(pkey, guids); });
}
Result<std::vector<GuidGroup>> UfmClient::guid_groups() {
  return observed("guid_groups", [&] { return get(kGroups, parse_guid_groups); });
}

Result<uint64_t> UfmClient::add_guid_group(ib::Guid physical, const std::vector<ib::Guid>& vfs) {
  return observed("add_guid_group", [&]() -> Result<uint64_t> {
    TRY(check_group(physical, vfs));
    uint64_t id = 0;
    TRY(servers_.call({.method = "POST", .path = kGroups, .body = write_guid_group(physical, vfs)},
                      [&](const https::Answer& answer) -> Status {
                        const std::optional<Error> failure = https::failure_of(answer);
                        if (failure) return *failure;
                        id = TRY(parse_group_id(answer.body));
                        return ok();
                      }));
    return id;
  });
}

// A group is only taken for absent if the list of all is there: a wrong address answers 404, too.
Status UfmClient::remove_guid_group(uint64_t id) {
  return observed("remove_guid_group", [&]() -> Status {
    bool missing = false;
    TRY(servers_.call({.method = "DELETE", .path = kGroups + ("/" + std::to_string(id))},
                      [&](const https::Answer& answer) -> Status {
                        missing = https::is_not_found(answer);
                        return missing ? ok() : check_change(answer.body);
                      }));
    if (!missing) return ok();
    const uint64_t generation = servers_.master_generation();
    const std::vector<GuidGroup> groups = TRY(get(kGroups, parse_guid_groups));
    TRY(check_same_master(generation));
    const bool listed = std::any_of(groups.begin(), groups.end(),
                                    [id](const GuidGroup& group) { return group.id == id; });
    if (!listed) return ok();
    return Error(Code::unsupported, "UFM has the group " + std::to_string(id) +
                                        " of GUIDs, but does not serve its removal");
  });
}

Result<std::string> UfmClient::version() {
  return observed("version", [&] { return get("/app/ufm_version", parse_version); });
}
Result<SiteSettings> UfmClient::settings() {
  return observed("settings", [&] { return get("/app/smconf", parse_settings); });
}
Result<std::vector<ib::Guid>> UfmClient::ports() {
  return observed("ports", [&] { return get("/resources/ports?sys_type=Computer", parse_ports); });
}
Result<std::vector<UfmVport>> UfmClient::vports() {
  return observed("vports", [&] { return get("/resources/vports", parse_vports); });
}

}  // namespace ibpod::sm::ufm
