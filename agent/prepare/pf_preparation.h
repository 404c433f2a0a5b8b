// PfPreparation: gives one PF the VFs that its entry in the configuration demands, and these what
// they lack.
#pragma once

#include "agent/prepare/guids_in_use.h"
#include "agent/prepare/intent.h"
#include "agent/prepare/prepare.h"
#include "agent/prepare/vf_guids.h"
#include "agent/prepare/vf_locks.h"
#include "agent/prepare/vf_state.h"

#include <set>
#include <string>
#include <vector>

namespace ibpod::agent::prepare {

// The VFs that it touches are locked against ADD and DEL as long as it lives. `deps` and `in_use`
// outlive it.
class PfPreparation {
 public:
  PfPreparation(const PrepareDeps& deps, node::Pf pf, GuidsInUse& in_use, Deadline deadline)
      : deps_(deps),
        kernel_(deps.kernel),
        intents_(deps.state),
        pf_(std::move(pf)),
        deadline_(deadline),
        locks_(deps, deadline),
        guids_(deps, pf_.address, in_use) {}

  // Does what an intent says: identities, autoprobe, binds. The intent goes when all of it is done.
  Status finish(const Intent& intent);
  // Makes the number of VFs that the entry wants, as far as it may; the VFs that are there already
  // get what they lack.
  Status apply(const PfConfig& config);

  const std::vector<std::string>& done() const { return done_; }

 private:
  Status check_reach() const;
  Status check_host_use(const PfConfig& config) const;
  Status set_count(const PfConfig& config);
  Status make_vfs(uint32_t count);
  Status make_unbound(uint32_t count);
  Status remove_all();
  Status check_removable(const ib::PciAddress& address);
  bool is_complete();
  Status complete_vfs();
  Status complete_vf(uint32_t number, std::vector<uint32_t>& to_bind);
  Status check_may_change(const VfState& vf, const PodOf& pod_of) const;
  Status rebind(const std::vector<uint32_t>& vfs);
  Status give_guids_if_unused(const ib::PciAddress& address);
  Status unbind(const ib::PciAddress& address);
  Status reload();

  Status make_ready(const ib::PciAddress& vf, const Intent& intent, std::vector<VfState>& ready);
  Status bind_all(const std::vector<VfState>& ready, Intent intent);
  Status bind(const VfState& vf, const std::string& driver);
  Status set_guids(const VfState& vf);
  void set_rules(GuidRules rules);
  void add_change(const ib::PciAddress& function, const std::string& what);

  const PrepareDeps& deps_;
  node::Kernel& kernel_;
  Intents intents_;
  node::Pf pf_;
  Deadline deadline_;
  VfLocks locks_;
  VfGuids guids_;
  GuidRules rules_;
  std::set<ib::PciAddress> unbound_;  // by this object
  std::vector<std::string> done_;
};

}  // namespace ibpod::agent::prepare
