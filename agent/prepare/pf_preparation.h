// One PF on its way to have what its entry in the configuration wants.
#pragma once

#include "agent/prepare/guids_in_use.h"
#include "agent/prepare/intent.h"
#include "agent/prepare/prepare.h"
#include "agent/prepare/vf_state.h"
#include "lib/base/lock.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::agent::prepare {

// The VFs that it touches are locked against ADD and DEL as long as it lives.
class PfPreparation {
 public:
  PfPreparation(const PrepareDeps& deps, node::Pf pf, GuidsInUse& in_use, Deadline deadline)
      : deps_(deps),
        kernel_(deps.kernel),
        intents_(deps.state),
        pf_(std::move(pf)),
        in_use_(in_use),
        deadline_(deadline) {}

  // Does what an intent says: identities, autoprobe, binds. The intent goes when all of it is done.
  Status finish(const Intent& intent);
  // Makes the number of VFs that the entry wants, as far as it may; the VFs that are there already
  // get what they lack.
  Status apply(const PfConfig& config);

  const std::vector<std::string>& done() const { return done_; }

 private:
  Status check_reach() const;
  Status check_count(const PfConfig& config) const;
  Status check_host_use(const PfConfig& config) const;
  Status set_count(const PfConfig& config);
  Status make_vfs(uint32_t count);
  Status make_unbound(uint32_t count);
  Status remove_all();
  Status check_removable(const ib::PciAddress& address);
  bool is_complete();
  Status complete_vfs();
  Status complete_vf(uint32_t number, std::vector<uint32_t>& to_bind);
  Status rebind(const std::vector<uint32_t>& vfs);
  Status reload();

  Result<bool> acquire_vf(const ib::PciAddress& vf);
  Status make_ready(const ib::PciAddress& vf, bool half_bound, std::vector<VfState>& ready);
  Status bind_all(const std::vector<VfState>& ready, Intent intent);
  Status bind(const VfState& vf, const std::string& driver);
  Result<ib::Guid> pf_guid() const;
  Result<ib::Guid> port_guid_for(const VfState& vf, ib::Guid derived) const;
  Result<node::Guids> desired_guids(const VfState& vf);
  Result<bool> needs_change(const VfState& vf);
  Status set_guids(const VfState& vf);
  void add_change(const ib::PciAddress& function, const std::string& what);

  const PrepareDeps& deps_;
  node::Kernel& kernel_;
  Intents intents_;
  node::Pf pf_;
  GuidsInUse& in_use_;
  Deadline deadline_;
  bool force_ = false;
  std::map<ib::PciAddress, FolderLock> locks_;
  std::vector<std::string> done_;
};

}  // namespace ibpod::agent::prepare
