#include "sm/ufm/ufm_client.h"

#include <utility>

namespace ibpod::sm::ufm {
namespace {

Error missing() { return Error(Code::unsupported, "this build has no client of UFM"); }

}  // namespace

UfmClient::UfmClient(ClientSettings, CallObserver observer) : observer_(std::move(observer)) {}
UfmClient::~UfmClient() = default;

Result<std::vector<UfmPartition>> UfmClient::partitions() { return missing(); }
Result<std::optional<UfmPartition>> UfmClient::partition(ib::PKey) { return missing(); }
Status UfmClient::add(const Addition&) { return missing(); }
Status UfmClient::remove(ib::PKey, const std::vector<ib::Guid>&) { return missing(); }
Result<std::string> UfmClient::version() { return missing(); }
Result<SiteSettings> UfmClient::settings() { return missing(); }
Result<std::vector<ib::Guid>> UfmClient::ports() { return missing(); }
Result<std::vector<UfmVport>> UfmClient::vports() { return missing(); }

}  // namespace ibpod::sm::ufm
