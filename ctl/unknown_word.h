// Finds the wrong word of a command line that was not understood.
#pragma once

#include "ctl/command.h"

#include <string>
#include <vector>

namespace ibpod::ctl {

struct UnknownWord {
  std::vector<std::string> path;   // the commands that were understood: partition, member
  std::string word;                // the first that is none; empty: there is none such
  std::vector<std::string> known;  // what could stand in its place
  bool incomplete = false;         // a command has to follow, and there is no word left

  // "unknown command \"partiton\" of `ibpodctl`; did you mean \"partition\"?"
  std::string text() const;
};

// `program`: its options count everywhere.
UnknownWord find_unknown_word(const std::vector<std::string>& words, const Command& program);

}  // namespace ibpod::ctl
