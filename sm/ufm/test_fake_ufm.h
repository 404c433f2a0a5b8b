// FakeUfm: the model of a UFM (tests/support/ufm) without HTTP between it and its caller. Beside
// the faults of the model it has those of releases, of a pair of hosts, and of the caller's own
// end.
#pragma once

#include "lib/ib/hex.h"
#include "sm/ufm/ufm_api.h"
#include "tests/support/ufm/ufm_model.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ibpod::sm::ufm::test {

inline constexpr std::string_view kVportLids = R"({"tenant_vport_lids":true})";
inline const std::string kOurs = "ibpod-sm", kAdmin = "admin";

class FakeUfm final : public UfmApi {
 public:
  explicit FakeUfm(fake_ufm::UfmModel& model) : model_(model) {}

  // --- the difference of this UFM; changed while no call runs
  bool widens = false;        // every member that is added is full
  bool keeps_values = false;  // a member that exists already keeps its values
  bool hides_values = false;  // answers have neither membership nor index 0
  bool down = false;          // no address answers
  bool standby = false;       // only the standby does
  bool blocks = false;        // changes wait for cancel()
  bool has_groups = true;     // of GUIDs: since UFM 6.16
  // The answer of master_generation(). If it grows, the next call fails if it is a change.
  uint64_t found_generation = 0;
  // Called before each call, and after it: may throw, which is the end of the caller's process.
  std::function<void()> before, after;
  fake_ufm::Operation next = fake_ufm::Operation::list;  // of the call that they are about

  Result<std::vector<UfmPartition>> partitions() override {
    const auto outcome = TRY(call({.operation = fake_ufm::Operation::list}));
    std::vector<UfmPartition> partitions;
    for (const auto& [pkey, partition] : outcome.partitions)
      partitions.push_back(shown(pkey, partition));
    return partitions;
  }
  Result<std::optional<UfmPartition>> partition(ib::PKey pkey) override {
    auto outcome = call({.operation = fake_ufm::Operation::read, .pkey = pkey});
    if (!outcome && outcome.error().code() == Code::not_found) return std::optional<UfmPartition>();
    if (!outcome) return outcome.error();
    if (outcome->partitions.empty()) return std::optional<UfmPartition>();
    return std::optional(shown(pkey, outcome->partitions.begin()->second));
  }
  Status add(const Addition& addition) override {
    wait_if_blocked();
    fake_ufm::Call post{.operation = fake_ufm::Operation::post,
                        .pkey = addition.pkey,
                        .guids = addition.guids,
                        .membership = addition.membership,
                        .index0 = addition.index0,
                        .ip_over_ib = addition.ip_over_ib};
    if (widens) post.membership.reset();
    if (keeps_values) {
      const fake_ufm::Partitions present = model_.partitions();
      const auto found = present.find(addition.pkey);
      std::erase_if(post.guids, [&](ib::Guid guid) {
        return found != present.end() && found->second.members.contains(guid);
      });
      if (post.guids.empty()) return ok();
    }
    return post_or_create(post);
  }
  Status remove(ib::PKey pkey, const std::vector<ib::Guid>& guids) override {
    wait_if_blocked();
    const auto removed =
        call({.operation = fake_ufm::Operation::remove_guids, .pkey = pkey, .guids = guids});
    if (!removed && removed.error().code() == Code::not_found) return ok();
    return status_of(removed);
  }
  Result<std::vector<GuidGroup>> guid_groups() override {
    if (!has_groups) return Error(Code::unsupported, "404: not served");
    const auto outcome = TRY(call({.operation = fake_ufm::Operation::list_groups}));
    std::vector<GuidGroup> groups;
    for (const auto& [id, group] : outcome.groups) {
      groups.push_back({static_cast<uint64_t>(id), group.physical, group.virtual_guids});
      if (!group.properties.empty()) groups.back().vport_lids = group.properties == kVportLids;
    }
    return groups;
  }
  Result<uint64_t> add_guid_group(ib::Guid physical, const std::vector<ib::Guid>& vfs) override {
    const auto outcome = TRY(call({.operation = fake_ufm::Operation::add_group,
                                   .group = {{physical}, vfs, std::string(kVportLids)}}));
    return static_cast<uint64_t>(outcome.group_id);
  }
  Status remove_guid_group(uint64_t id) override {
    const auto removed =
        call({.operation = fake_ufm::Operation::remove_group, .group_id = static_cast<int>(id)});
    if (!removed && removed.error().code() == Code::not_found) return ok();
    return status_of(removed);
  }
  uint64_t master_generation() const override { return found_generation; }
  Peer peer() const override { return down ? Peer::none : standby ? Peer::standby : Peer::master; }
  void cancel() override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    wake_.notify_all();
  }

  Result<std::string> version() override { return std::string("6.19.1"); }
  Result<SiteSettings> settings() override { return SiteSettings{}; }
  Result<std::vector<ib::Guid>> ports() override { return std::vector<ib::Guid>(); }
  Result<std::vector<UfmVport>> vports() override { return std::vector<UfmVport>(); }

 private:
  static Status status_of(const Result<fake_ufm::Outcome>& outcome) {
    if (!outcome)
      return outcome.error().code() == Code::not_found
                 ? Status(Error(outcome.error()).as(Code::invalid))
                 : Status(outcome.error());
    return ok();
  }

  // As UfmClient: a P_Key that a POST does not make is made first, and one that another user made
  // meanwhile is busy.
  Status post_or_create(const fake_ufm::Call& post) {
    const auto posted = call(post);
    const auto names = [&posted](ib::Guid guid) {
      return posted.error().text().find(ib::hex(guid.value(), 16)) != std::string::npos;
    };
    if (posted || posted.error().code() != Code::not_found ||
        std::any_of(post.guids.begin(), post.guids.end(), names))
      return status_of(posted);
    const bool listed = TRY(lists(post.pkey));
    if (listed) return status_of(posted);
    const Status created = status_of(call({.operation = fake_ufm::Operation::add_empty,
                                           .pkey = post.pkey,
                                           .ip_over_ib = post.ip_over_ib}));
    if (created) return status_of(call(post));
    if (created.error().code() != Code::invalid) return created;
    const bool was_made = TRY(lists(post.pkey));
    return was_made ? Status(Error(created.error()).as(Code::busy)) : created;
  }
  Result<bool> lists(ib::PKey pkey) {
    const auto outcome = TRY(call({.operation = fake_ufm::Operation::list}));
    return outcome.partitions.contains(pkey);
  }

  // not_found for 404: the calls differ in the meaning of it.
  Result<fake_ufm::Outcome> call(fake_ufm::Call call) {
    next = call.operation;
    if (before) before();
    if (down) return Error(Code::unavailable, "connection refused");
    if (standby) return Error(Code::unavailable, "503: this host is not the master");
    using fake_ufm::Operation;
    const bool is_read = call.operation == Operation::list || call.operation == Operation::read ||
                         call.operation == Operation::list_groups;
    if (std::exchange(asked_generation_, found_generation) != found_generation && !is_read)
      return Error(Code::unavailable, "not sent: another server is the master now");
    call.caller = kOurs;
    fake_ufm::Outcome outcome = model_.call(call);
    if (after) after();
    if (!outcome.delivered()) return Error(Code::unavailable, "no complete answer");
    if (outcome.ok()) return outcome;
    const std::string text = std::to_string(outcome.status) + ": " + outcome.text;
    if (outcome.status == 401 || outcome.status == 403) return Error(Code::denied, text);
    if (outcome.status >= 500) return Error(Code::unavailable, text);
    return Error(outcome.status == 404 ? Code::not_found : Code::invalid, text);
  }

  UfmPartition shown(ib::PKey pkey, const fake_ufm::Partition& partition) const {
    UfmPartition shown{pkey, partition.name, partition.ip_over_ib};
    for (const auto& [guid, member] : partition.members) {
      shown.members.push_back({guid});
      if (hides_values) continue;
      shown.members.back().membership = member.membership;
      shown.members.back().index0 = member.index0;
    }
    return shown;
  }

  void wait_if_blocked() {
    std::unique_lock lock(mutex_);
    if (blocks) wake_.wait(lock, [this] { return cancelled_; });
  }

  fake_ufm::UfmModel& model_;
  uint64_t asked_generation_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool cancelled_ = false;
};

}  // namespace ibpod::sm::ufm::test
