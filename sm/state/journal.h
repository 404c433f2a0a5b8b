// Journal: the state in memory, and the Store to which its changes are written.
//
// For one thread. It has no clock: the time is an argument. A caller makes any number of changes,
// calls commit() once for all of them, and only then answers requests: until then, no lookup shows
// durable values. After a failed commit() every request is unavailable until the store can be read
// again. A const Journal is for reading; the registries change the state, and stage each change.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/state/policy.h"
#include "sm/state/staged_changes.h"
#include "sm/state/state.h"
#include "sm/state/store.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ibpod::sm::state {

struct CommitResult {
  Status status = ok();
  bool wrote = false;  // true if there were changes to write
  // Attachments whose bindings were released because their lease has ended.
  std::vector<fabric::Attachment> expired;
};

class Journal {
 public:
  // Reads the store. Each binding comes back as `requested` or `releasing`, with a new lease, and
  // must be verified again. invalid if a value cannot be parsed or contradicts another one, if the
  // P_Key of a partition is in no range, or if the policy no longer allows a membership.
  static Result<std::unique_ptr<Journal>> load(Store& store, Policy policy, Now now);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  const Records& records() const { return state_->records(); }
  const Policy& policy() const { return policy_; }
  // The time at which it was loaded.
  Steady loaded() const { return loaded_; }
  // Increases when the definitions for the subnet manager change.
  uint64_t version() const { return version_; }
  // Increases with each staged change: if it is the same, nothing stored has changed.
  uint64_t changes() const { return staged_.count(); }
  // unavailable if the store could not be read after a failed commit.
  Status check_readable() const;
  bool is_readable() const { return state_readable_; }

  // Writes all staged changes. If that fails, none of them is valid: the state is read again from
  // the store.
  CommitResult commit(Now now);
  // Bindings that have changed since the last call: each attachment once, with its present state.
  // Empty while the store cannot be read.
  std::vector<fabricapi::BindingChange> take_changes();

  // --- for the registries

  // Every change of a stored value must be staged.
  State& state() { return *state_; }
  StagedChanges& staged() { return staged_; }
  // Starts a new version, and returns it.
  uint64_t next_version() { return ++version_; }
  // Call it after each change of a port's memberships.
  void refresh(ib::Guid guid);

  void set_status(BindingRecord& entry, fabric::BindingState state, fabric::Condition condition,
                  Now now);
  // Removes a binding whose keys have left the port's table.
  void remove(BindingRecord& entry, Now now);
  // Removes a node that is being forgotten, unless it still has a binding.
  void remove_if_forgotten(const std::string& node);

 private:
  Journal(Store& store, Policy policy);
  void resume(Now now);
  Status write();
  Status reload(Now now);

  Store& store_;
  Policy policy_;
  std::unique_ptr<State> state_;
  uint64_t version_ = 1;
  bool state_readable_ = true;
  Steady loaded_{};
  StagedChanges staged_;
};

}  // namespace ibpod::sm::state
