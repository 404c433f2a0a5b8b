// Command: what can be typed, as data: nothing here knows how a command line is taken apart.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ibpod::ctl {

struct Answer {
  std::string text;  // for standard output
  int exit = 0;
  std::string note = {};                   // a line for standard error: what the text does not say
  std::vector<std::string> warnings = {};  // lines for standard error, before the note
};

// An option ("-n,--namespace"), or, without a dash, a word in its place ("NAME"), which has to be
// there. Where a value comes decides what it is: bool is a flag; optional<bool> a flag that also
// has a no, --no-index0, and never both; a vector takes the option once for each, or one or two
// words.
struct Option {
  using Target = std::variant<std::string*, Path*, unsigned*, bool*, std::optional<bool>*,
                              std::vector<std::string>*>;
  std::string name;
  Target target;  // outlives the command; what it has before is the default
  std::string help;
  std::string environment = {};  // where it may come from, too
};

struct Command {
  std::string name;
  std::string help;
  std::vector<Option> options = {};
  std::vector<Command> commands = {};  // below it
  // Nothing: it needs one of those below. Where it has both it is for the command alone.
  std::function<Result<Answer>()> run = {};
};

}  // namespace ibpod::ctl
