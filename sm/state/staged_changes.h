// StagedChanges: what has changed in the state: the records that the next commit writes, and the
// bindings to report to callers.
//
// It has the names of records, not their values: a record that changes again and again is written
// once, with its value at the commit.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/state/records.h"
#include "sm/state/store.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ibpod::sm::state {

class StagedChanges {
 public:
  // A stored value of the record has changed, or the record was removed. A binding is reported,
  // too.
  void add(RecordKind kind, std::string key);
  void add(const PartitionRecord& record);
  void add(const BindingRecord& entry);
  // The binding is reported, although nothing stored has changed.
  void note_changed(const BindingRecord& entry);
  // The binding is reported as removed, unless there is one for its attachment again.
  void note_removed(const fabric::Binding& binding);
  // The lease of a binding has ended, and it is released.
  void note_expired(const fabric::Attachment& attachment) { expired_.push_back(attachment); }

  // Records a removal or change that may have been the reason to reject a declaration.
  void note_conflict_freed() { conflict_freed_ = true; }
  bool conflict_freed() const { return conflict_freed_; }
  void clear_conflict_freed() { conflict_freed_ = false; }

  // Increases with each add(): if it is the same, nothing stored has changed.
  uint64_t count() const { return count_; }

  // --- for the journal

  // True if there is nothing to write.
  bool empty() const { return records_.empty(); }
  // The present value of each changed record; without a value if it was removed.
  std::vector<RecordChange> to_write(const Records& records) const;
  // There is nothing more to write: it was written, or the state was read again.
  void clear() { records_.clear(); }
  // These return what was noted since their last call. Each binding comes once, with its present
  // state.
  std::vector<fabricapi::BindingChange> take_bindings(const Records& records);
  std::vector<fabric::Attachment> take_expired() { return std::exchange(expired_, {}); }

 private:
  std::set<std::pair<RecordKind, std::string>> records_;
  uint64_t count_ = 0;
  std::map<fabric::Attachment, std::optional<fabric::Binding>> bindings_;  // nothing: not removed
  std::vector<fabric::Attachment> expired_;
  bool conflict_freed_ = false;
};

}  // namespace ibpod::sm::state
