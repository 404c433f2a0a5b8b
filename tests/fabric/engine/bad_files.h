// Files that nobody should give to OpenSM, and what OpenSM 3.3.23 makes of each.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ibpod {

enum class Effect {
  opens,     // it throws the file away: every port is a full member of the default partition
  misreads,  // it reads something other than what is written
  ends,      // it crashes
};

struct BadFile {
  std::string name;
  std::optional<std::string> text;  // nothing: there is no file
  Effect effect;
  std::string as = {};       // a good file that gives the same tables as one that is misread
  std::string section = {};  // the bad part, if it follows a good line
};

std::vector<BadFile> bad_files();

}  // namespace ibpod
