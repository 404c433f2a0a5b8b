// The words of an entry of partitions.conf, each read as a value or refused with its place.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/group_flags.h"
#include "lib/fabric/membership.h"
#include "lib/fabric/partitions_conf_syntax.h"
#include "lib/ib/pkey.h"

#include <cstdint>
#include <set>
#include <string_view>

namespace ibpod::fabric {

// 0x0001 to 0x7fff. OpenSM takes any number in C's spelling, cuts it to 16 bits and drops bit 15; 0
// then means that there is none and one is to be made up.
Result<ib::PKey> read_pkey(const Word& word);

Result<Membership> read_membership(const Word& word);

struct Range {
  uint64_t least;
  uint64_t most;
  std::string_view meaning = {};  // ": a code, ..."
  // The value that a code stands for, in units that people use.
  std::string (*units)(uint64_t code) = nullptr;
};
// Decimal or 0x; a zero in front would make it octal.
Result<uint64_t> read_number(const Word& word, const Range& range);

// A value that has to be there.
Result<Word> value_of(const Entry& entry);

// The flags of one partition or group. OpenSM takes any start of a flag for the whole, ignores what
// it does not know, and of a flag that stands twice it takes the last.
class FlagReader {
 public:
  explicit FlagReader(GroupFlags& flags) : flags_(flags) {}

  // False: it is no flag of a group. The caller may know it; if not, see unknown().
  Result<bool> take(const Entry& entry);
  // Refuses a flag that stands twice.
  Status once(const Entry& entry);
  Error unknown(const Entry& entry) const;

 private:
  Status set_scope(const Entry& entry);

  GroupFlags& flags_;
  std::set<std::string_view> seen_;
};

}  // namespace ibpod::fabric
