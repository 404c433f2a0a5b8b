// UfmClient: UFM over its REST interface. The paths and bodies are in docs/ufm.md.
#pragma once

#include "sm/ufm/settings.h"
#include "sm/ufm/ufm_api.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::ufm {

// One call of UfmApi: its name there, its failure, and its duration with all requests.
using CallObserver =
    std::function<void(std::string_view operation, std::optional<Code> failure, Duration took)>;

class UfmClient : public UfmApi {
 public:
  explicit UfmClient(ClientSettings settings, CallObserver observer = {});
  ~UfmClient() override;

  Result<std::vector<UfmPartition>> partitions() override;
  Result<std::optional<UfmPartition>> partition(ib::PKey pkey) override;
  Status add(const Addition& addition) override;
  Status remove(ib::PKey pkey, const std::vector<ib::Guid>& guids) override;
  Result<std::string> version() override;
  Result<SiteSettings> settings() override;
  Result<std::vector<ib::Guid>> ports() override;
  Result<std::vector<UfmVport>> vports() override;

 private:
  CallObserver observer_;
};

}  // namespace ibpod::sm::ufm
