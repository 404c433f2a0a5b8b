// PartitionDeclarations: makes the declared partitions those of a file, and keeps requests from
// changing them.
#pragma once

#include "lib/fabric/partition.h"
#include "sm/partitions/partition_editor.h"
#include "sm/partitions/partition_view.h"
#include "sm/state/journal.h"

#include <functional>
#include <string>
#include <vector>

namespace ibpod::sm::partitions {

struct DeclareOptions {
  // False: the list may lack some partitions, so none is removed.
  bool complete = true;
  // Called with the resulting definitions before each change; an error rejects the change. Empty:
  // every change is accepted.
  std::function<Status(const Definitions&)> check = {};
};

// A declared partition that could not be created, updated or removed, and why.
struct DeclarationError {
  std::string name;
  Error error;
};

class PartitionDeclarations {
 public:
  // All of them outlive it.
  struct Deps {
    state::Journal& journal;
    const PartitionView& view;
    const PartitionAdmission& admission;
    PartitionEditor& editor;
  };
  explicit PartitionDeclarations(const Deps& deps) : deps_(deps) {}

  // Makes these the declared partitions: creates, updates and removes them, and takes over those
  // that a request has created. Returns what failed; a failed partition keeps its earlier
  // declaration. A later call may succeed: see may_declare_again(). unavailable if the store cannot
  // be read.
  Result<std::vector<DeclarationError>> declare(const std::vector<fabric::Partition>& partitions,
                                                state::Now now, const DeclareOptions& how = {});
  // True if something was removed or changed since the last declare() that may have been the reason
  // to reject a declaration.
  bool may_declare_again() const { return deps_.journal.staged().conflict_freed(); }
  // Ends all declarations: requests can change those partitions from now on. Returns their names.
  Result<std::vector<std::string>> release();

 private:
  Status declare_one(const fabric::Partition& partition, const DeclareOptions& how, state::Now now);
  Status check_possible(const state::PartitionRecord* record, const fabric::Partition& desired,
                        const DeclareOptions& how) const;
  std::vector<DeclarationError> undeclare(const std::vector<fabric::Partition>& partitions);

  Deps deps_;
};

}  // namespace ibpod::sm::partitions
