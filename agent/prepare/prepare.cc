#include "agent/prepare/prepare.h"

#include "agent/prepare/pf_preparation.h"

#include <optional>
#include <set>
#include <utility>

namespace ibpod::agent {
namespace {

class Run {
 public:
  Run(const Node& node, const std::vector<PfConfig>& configs, Deadline deadline)
      : node_(node), configs_(configs), deadline_(deadline), intents_(node.state), in_use_(node) {}

  Preparation all() {
    collect(finish_what_was_begun());
    collect(apply());
    return std::move(result_);
  }

 private:
  void collect(const Status& status) {
    if (!status) result_.problems.push_back(status.error());
  }

  // Also of PFs that the configuration does not name any more.
  Status finish_what_was_begun() {
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
    return told(preparation, preparation.finish(*intent));
  }

  Status apply() {
    const std::vector<ib::PciAddress> pfs = TRY(node_.kernel.pfs());
    for (const ib::PciAddress& address : pfs) collect(apply_to(address).during(address.text()));
    for (const PfConfig& config : configs_) {
      if (used_.contains(config.path)) continue;
      result_.problems.push_back(
          Error(Code::not_found, config.path + ": it chooses no PF of this node" + seen_));
    }
    return ok();
  }

  Status apply_to(const ib::PciAddress& address) {
    std::optional<node::Pf> pf = TRY(node_.kernel.pf(address));
    if (!pf) return ok();
    const std::vector<node::Netdev> netdevs = TRY(node_.kernel.netdevs(node::kHost, address));
    remember(*pf, netdevs);
    const PfConfig* const config = first_that_chooses(*pf, netdevs);
    if (config == nullptr || unfinished_.contains(address)) return ok();
    PfPreparation preparation(node_, std::move(*pf), in_use_, deadline_);
    return told(preparation, preparation.apply(*config));
  }

  // An entry that comes after another one for the same PF has chosen, too.
  const PfConfig* first_that_chooses(const node::Pf& pf, const std::vector<node::Netdev>& netdevs) {
    const PfConfig* first = nullptr;
    for (const PfConfig& config : configs_) {
      if (!chooses(config, pf, netdevs)) continue;
      used_.insert(config.path);
      if (first == nullptr) first = &config;
    }
    return first;
  }

  // For whoever has to find out why an entry chooses none.
  void remember(const node::Pf& pf, const std::vector<node::Netdev>& netdevs) {
    seen_ += (seen_.empty() ? ": there are " : ", ") + pf.address.text();
    for (const node::Netdev& netdev : netdevs) {
      if (!netdev.parent) seen_ += " " + netdev.name;
    }
  }

  Status told(const PfPreparation& preparation, Status status) {
    const std::vector<std::string>& done = preparation.done();
    result_.done.insert(result_.done.end(), done.begin(), done.end());
    return status;
  }

  const Node& node_;
  const std::vector<PfConfig>& configs_;
  Deadline deadline_;
  Intents intents_;
  GuidsInUse in_use_;
  Preparation result_;
  std::set<ib::PciAddress> unfinished_;
  std::set<std::string> used_;
  std::string seen_;
};

}  // namespace

Preparation prepare(const Node& node, const std::vector<PfConfig>& configs, Deadline deadline) {
  return Run(node, configs, deadline).all();
}

}  // namespace ibpod::agent
