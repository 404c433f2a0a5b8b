// UfmClient: UFM over its REST interface. The paths and bodies are in docs/ufm.md.
#pragma once

#include "sm/ufm/settings.h"
#include "sm/ufm/ufm_api.h"
#include "sm/ufm/ufm_servers.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::ufm {

// One call of UfmApi: its name there, its failure, and its duration with all requests.
using CallObserver =
    std::function<void(std::string_view operation, std::optional<Code> failure, Duration took)>;

// For partitions() if UFM lists them without members, so that each is read alone.
struct SingleReadLimits {
  size_t requests = 1'000;
  Duration time{300'000};
};

class UfmClient : public UfmApi {
 public:
  // The settings are used as they are: an address with another form, or a file that cannot be used,
  // is an error of each call. The observer is called in the thread of the call.
  explicit UfmClient(const ClientSettings& settings, CallObserver observer = {},
                     SingleReadLimits limits = {});

  // unavailable, too, if the limits are exceeded: partitions that were not read are unknown.
  Result<std::vector<UfmPartition>> partitions() override;
  Result<std::optional<UfmPartition>> partition(ib::PKey pkey) override;
  Status add(const Addition& addition) override;
  Status remove(ib::PKey pkey, const std::vector<ib::Guid>& guids) override;
  Result<std::vector<GuidGroup>> guid_groups() override;
  Result<uint64_t> add_guid_group(ib::Guid physical, const std::vector<ib::Guid>& vfs) override;
  Status remove_guid_group(uint64_t id) override;
  Peer peer() const override { return servers_.peer(); }
  uint64_t master_generation() const override { return servers_.master_generation(); }
  void cancel() override { servers_.cancel(); }
  // unsupported, these four and guid_groups(), if this release of UFM does not serve them.
  Result<std::string> version() override;
  Result<SiteSettings> settings() override;
  Result<std::vector<ib::Guid>> ports() override;
  Result<std::vector<UfmVport>> vports() override;

  std::vector<std::string> denials() const override { return servers_.denials(); }

 private:
  template <typename Call>
  auto observed(std::string_view operation, const Call& call) -> decltype(call());
  template <typename T>
  Result<T> get(const std::string& path, Result<T> (*parse)(std::string_view),
                Code missing = Code::unsupported);

  Status check_same_master(uint64_t generation) const;
  Result<bool> exists(ib::PKey pkey);
  Result<std::vector<UfmPartition>> read_all();
  Result<std::optional<UfmPartition>> read_one(ib::PKey pkey);
  Status post_members(const Addition& addition, bool& pkey_is_missing);
  Status create(const Addition& addition);
  Status send_addition(const Addition& addition);
  Status send_removal(ib::PKey pkey, const std::vector<ib::Guid>& guids);
  Result<bool> try_removal(bool by_action, ib::PKey pkey, const std::vector<ib::Guid>& guids);

  UfmServers servers_;
  CallObserver observer_;
  SingleReadLimits limits_;
  // The form of a removal that this UFM has served last: releases have one of them, or both.
  bool removes_by_action_ = false;
};

}  // namespace ibpod::sm::ufm
