// The words of partitions.conf: lines, comments, definitions and their comma-separated entries, and
// the values in an entry. What is not of this form is refused with its position.
//
// Read here is what OpenSM's own parser (osm_prtn_config.c, osm_prtn_config_parse_file and
// parse_part_conf) reads without doubt. It works line by line in a buffer that keeps what earlier
// lines left behind, so some texts mean what happens to lie there; those are refused.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/group_flags.h"
#include "lib/fabric/membership.h"
#include "lib/ib/pkey.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::fabric {

// The longest line that OpenSM reads in one piece, in bytes, without its newline. The rest of a
// longer one counts as a line of its own, even after a comment.
inline constexpr size_t kMostLine = 4094;

// Both from 1; columns count bytes.
struct SourcePosition {
  size_t line = 1;
  size_t column = 1;
};
// "line 3, column 7: TEXT". The text may quote the file: what is no printable ASCII in it becomes
// '?', and of a long one the middle is left out.
Error wrong(SourcePosition position, const std::string& text);

// Without white space around it; inside it there may be some.
struct Word {
  SourcePosition position;
  std::string_view text;
};

// NAME or NAME=VALUE.
struct Entry {
  Word name;
  std::optional<Word> value;
  bool comma_after = false;
};
using Entries = std::vector<Entry>;

// HEAD : ENTRIES ; where the entries may go on for many lines, each of which is a list of its own.
// The head's first entry may be empty.
struct DefinitionTokens {
  SourcePosition position;
  Entries head;
  std::vector<Entries> lines;
};

// The definitions before the first line that is not of this form, and the error in that line. An
// earlier line may be the cause: a ';' too many in a list makes the next line look like a head.
struct LexResult {
  std::vector<DefinitionTokens> definitions;
  Status end;  // invalid with the place
};
// The words point into `text`.
LexResult lex_definitions(std::string_view text);

// 0x0001 to 0x7fff. OpenSM takes any number in C's spelling, cuts it to 16 bits and drops bit 15; 0
// then means that there is none and one is to be made up.
Result<ib::PKey> read_pkey(const Word& word);

Result<Membership> read_membership(const Word& word);

// The value of an entry; invalid if it has none.
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
