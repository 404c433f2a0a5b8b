#include "agent/prepare/prepare.h"

#include "agent/prepare/pf_preparation.h"

#include <optional>
#include <set>
#include <utility>

namespace ibpod::agent::prepare {
namespace {

class Run {
 public:
  Run(const PrepareDeps& deps, const std::vector<PfConfig>& configs, Deadline deadline)
      : node_(deps), configs_(configs), deadline_(deadline), intents_(deps.state), in_use_(deps) {}

  PrepareResult run() {
    collect(finish_intents());
    collect(apply());
    return std::move(result_);
  }

 private:
  void collect(const Status& status) {
    if (!status) result_.problems.push_back(status.error());
  }

  // Also of PFs that the configuration does not name any more.
  Status finish_intents() {
    const std::vector<ib::PciAddress> pfs = TRY(intents_.all());
    for (const ib::PciAddress& address : pfs) {
      const Status finished = finish(address).during(address.text());
      if (!finished) unfinished_.insert(address);
      collect(finished);
    }
    return ok();
  }

  Status finish(const ib::PciAddress& address) {
    const std::optional<Intent> intent = TRY(intents_.find(address));
    if (!intent) return ok();
    std::optional<node::Pf> pf = TRY(node_.kernel.pf(address));
    if (!pf || intent->boot_id != node_.boot_id) return intents_.remove(address);
    PfPreparation preparation(node_, std::move(*pf), in_use_, deadline_);
    return with_changes(preparation, preparation.finish(*intent));
  }

  Status apply() {
    const std::vector<ib::PciAddress> pfs = TRY(node_.kernel.pfs());
    for (const ib::PciAddress& address : pfs) collect(apply_to(address).during(address.text()));
    for (const PfConfig& config : configs_) {
      if (matched_.contains(config.path)) continue;
      result_.problems.push_back(
          Error(Code::not_found, config.path + ": it selects no PF of this node" + pf_names_));
    }
    return ok();
  }

  Status apply_to(const ib::PciAddress& address) {
    std::optional<node::Pf> pf = TRY(node_.kernel.pf(address));
    if (!pf) return ok();
    const std::vector<node::Netdev> netdevs = TRY(node_.kernel.netdevs(node::kHost, address));
    note_pf(*pf, netdevs);
    const PfConfig* const config = first_match(*pf, netdevs);
    if (config == nullptr || unfinished_.contains(address)) return ok();
    PfPreparation preparation(node_, std::move(*pf), in_use_, deadline_);
    return with_changes(preparation, preparation.apply(*config));
  }

  // An entry that comes after another one for the same PF has chosen, too.
  const PfConfig* first_match(const node::Pf& pf, const std::vector<node::Netdev>& netdevs) {
    const PfConfig* first = nullptr;
    for (const PfConfig& config : configs_) {
      if (!matches_pf(config, pf, netdevs)) continue;
      matched_.insert(config.path);
      if (first == nullptr) first = &config;
    }
    return first;
  }

  // For the message about an entry that matches no PF.
  void note_pf(const node::Pf& pf, const std::vector<node::Netdev>& netdevs) {
    pf_names_ += (pf_names_.empty() ? ": it has " : ", ") + pf.address.text();
    for (const node::Netdev& netdev : netdevs) {
      if (!netdev.parent) pf_names_ += " " + netdev.name;
    }
  }

  Status with_changes(const PfPreparation& preparation, Status status) {
    const std::vector<std::string>& done = preparation.done();
    result_.done.insert(result_.done.end(), done.begin(), done.end());
    return status;
  }

  const PrepareDeps& node_;
  const std::vector<PfConfig>& configs_;
  Deadline deadline_;
  Intents intents_;
  GuidsInUse in_use_;
  PrepareResult result_;
  std::set<ib::PciAddress> unfinished_;
  std::set<std::string> matched_;
  std::string pf_names_;
};

}  // namespace

PrepareResult prepare_node(const PrepareDeps& deps, const std::vector<PfConfig>& configs,
                           Deadline deadline) {
  return Run(deps, configs, deadline).run();
}

}  // namespace ibpod::agent::prepare
