// GuidMappings: which virtual GUIDs may appear behind which physical ports, as
// /app/smconf/physical_virtual_mapping stores it.
#pragma once

#include "tests/support/ufm/call.h"

#include <string>

namespace ibpod::fake_ufm {

class GuidMappings {
 public:
  // Does what is asked for; `call` is one with is_of_groups(). An error changes nothing.
  Outcome apply(const Call& call, const Switches& switches);

  const GuidGroups& all() const { return groups_; }
  bool operator==(const GuidMappings&) const = default;

 private:
  GuidGroups groups_;
  int last_ = 0;  // ID
};

// The body of a POST. invalid: `body` is no such group.
Result<GuidGroup> read_group(const std::string& body);
// {"1": {...}}, and the one.
std::string show_groups(const GuidGroups& groups);
std::string show_group(const GuidGroup& group);

}  // namespace ibpod::fake_ufm
