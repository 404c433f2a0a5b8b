#include "agent/node_preparation.h"

#include "agent/kubelet/kubelet_pods.h"
#include "agent/prepare/pf_config.h"
#include "agent/prepare/prepare.h"

#include <algorithm>

namespace ibpod::agent {
namespace {

constexpr Duration kPrepareTimeout{120'000};
constexpr Duration kRetryTimeout{10'000};
// A look asks the SM service for the GUID of every VF.
constexpr Duration kLookAgain{600'000};

bool has_active_port(const device_plugin::Device& device) {
  return std::any_of(device.rdma.begin(), device.rdma.end(), [](const auto& rdma) {
    return !rdma.ports.empty() && rdma.ports.front().state == ib::PortState::active;
  });
}

// Sets `known` to `now`. True if that added one.
bool replace_known(std::set<ib::PciAddress>& known, std::set<ib::PciAddress> now) {
  const bool more = !std::includes(known.begin(), known.end(), now.begin(), now.end());
  known = std::move(now);
  return more;
}

}  // namespace

prepare::RdmaNetns NodePreparation::rdma_netns() const {
  const Result<prepare::RdmaNetns> wanted = prepare::parse_rdma_netns(config_.config().rdma_netns);
  return wanted ? *wanted : prepare::RdmaNetns::keep;
}

void NodePreparation::set_rdma_mode() {
  set_rdma_mode_status(prepare::set_rdma_mode(host_.kernel(), rdma_netns()));
}

void NodePreparation::refresh_rdma_mode() {
  set_rdma_mode_status(prepare::refresh_rdma_mode(host_.kernel(), rdma_netns(), rdma_mode_));
}

void NodePreparation::set_rdma_mode_status(prepare::RdmaModeStatus status) {
  rdma_mode_ = std::move(status);
  telemetry_.report_rdma_mode(config_.config().rdma_netns, rdma_mode_);
}

void NodePreparation::prepare_pfs(sm_client::Fabrics* fabrics) {
  prepare_until(fabrics, Deadline::in(kPrepareTimeout));
}

void NodePreparation::prepare_again(sm_client::Fabrics* fabrics) {
  prepare_until(fabrics, Deadline::in(kRetryTimeout));
}

void NodePreparation::prepare_until(sm_client::Fabrics* fabrics, Deadline deadline) {
  const config::Config& config = config_.config();
  const prepare::PrepareDeps node{
      host_.kernel(),
      host_.records(),
      config.state_folder,
      host_.boot_id(),
      fabrics ? fabrics->guid_allocator() : nullptr,
      host_.kubelet() ? kubelet::pod_finder(*host_.kubelet()) : nullptr,
      host_.kubelet() ? kubelet::pod_finder(*host_.kubelet(), Duration(0)) : nullptr};
  const std::vector<prepare::PfConfig> pfs = prepare::parse_pf_configs(config.pfs).pfs;
  replaces_guids_ = std::any_of(pfs.begin(), pfs.end(),
                                [](const prepare::PfConfig& pf) { return pf.pool_guids; });
  const prepare::PrepareResult prepared = prepare::prepare_node(node, pfs, deadline);
  errors_ = telemetry_.report_preparation(prepared);
  prepared_at_ = std::chrono::system_clock::now();
  next_look_ = Deadline::in(std::max(config.sweep_interval, kLookAgain));
}

bool NodePreparation::should_retry(const gc::GcRun& gc_run) const {
  const bool freed = std::any_of(gc_run.outcomes.begin(), gc_run.outcomes.end(),
                                 [](const gc::Outcome& one) { return one.released; });
  return freed || !errors_.empty() || (replaces_guids_ && next_look_.passed());
}

bool NodePreparation::has_new_pf(const snapshot::Snapshot& snapshot) {
  const bool several_fabrics = config_.config().fabrics.size() > 1;
  std::set<ib::PciAddress> pfs, up;
  for (const device_plugin::Device& device : snapshot.devices) {
    if (device.pf) continue;
    pfs.insert(device.address);
    if (several_fabrics && has_active_port(device)) up.insert(device.address);
  }
  const bool more = replace_known(pfs_, std::move(pfs));
  return replace_known(active_pfs_, std::move(up)) || more;
}

}  // namespace ibpod::agent
