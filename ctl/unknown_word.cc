#include "ctl/unknown_word.h"

#include "lib/base/join.h"
#include "lib/base/nearest.h"

#include <algorithm>
#include <map>
#include <set>

namespace ibpod::ctl {
namespace {

// Names of these commands in other programs.
const std::map<std::string, std::string>& other_names() {
  static const std::map<std::string, std::string> names{
      {"ls", "list"},     {"show", "get"},    {"describe", "get"}, {"rm", "delete"},
      {"help", "--help"}, {"new", "create"},  {"edit", "update"},  {"version", "--version"},
      {"-o", "--json"},   {"-v", "--version"}};
  return names;
}

// Empty: none is like it.
std::string meant_by(const std::string& word, const std::vector<std::string>& known) {
  const auto other = other_names().find(word);
  const auto is_known = [&](const std::string& name) {
    return name.starts_with("--") || std::find(known.begin(), known.end(), name) != known.end();
  };
  if (other != other_names().end() && is_known(other->second)) return other->second;
  return std::string(nearest(word, {known.begin(), known.end()}));
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

// "--pkey" of "-n,--namespace" and "--pkey=0x8001".
std::vector<std::string> names_of(const Option& option) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin < option.name.size();) {
    const size_t end = std::min(option.name.find(',', begin), option.name.size());
    names.push_back(option.name.substr(begin, end - begin));
    begin = end + 1;
  }
  if (std::holds_alternative<std::optional<bool>*>(option.target))
    names.push_back("--no-" + option.name.substr(2));
  return names;
}

bool takes_value(const Option& option) {
  return !std::holds_alternative<bool*>(option.target) &&
         !std::holds_alternative<std::optional<bool>*>(option.target);
}

class Walk {
 public:
  explicit Walk(const Command& program) { enter(program); }

  UnknownWord walk(const std::vector<std::string>& words) {
    for (size_t i = 0; i < words.size() && unknown_.word.empty(); ++i) {
      if (is_option(words[i]))
        i += option(words[i]) ? 1 : 0;
      else
        command(words[i]);
    }
    const bool needs_one = !command_->commands.empty() && !command_->run;
    unknown_.incomplete = unknown_.word.empty() && needs_one;
    if (unknown_.known.empty()) unknown_.known = commands();
    return unknown_;
  }

 private:
  void enter(const Command& command) {
    command_ = &command;
    for (const Option& one : command.options)
      for (const std::string& name : names_of(one))
        if (is_option(name)) options_[name] = takes_value(one);
  }

  // True if its value is the next word.
  bool option(const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    const auto found = options_.find(name);
    if (found != options_.end()) return found->second && name == word;
    if (name == "--help" || name == "-h" || name == "--version") return false;
    unknown_.word = name;
    for (const auto& [known, value] : options_) unknown_.known.push_back(known);
    return false;
  }

  void command(const std::string& word) {
    for (const Command& one : command_->commands) {
      if (one.name != word) continue;
      unknown_.path.push_back(word);
      return enter(one);
    }
    // Or it is a value in its place, of which there may be too many.
    if (!command_->commands.empty()) unknown_.word = word;
  }

  std::vector<std::string> commands() const {
    std::vector<std::string> names;
    for (const Command& one : command_->commands) names.push_back(one.name);
    return names;
  }

  const Command* command_ = nullptr;
  std::map<std::string, bool> options_;  // and whether each has a value
  UnknownWord unknown_;
};

}  // namespace

std::string UnknownWord::text() const {
  std::string place = "ibpodctl";
  for (const std::string& one : path) place += " " + one;
  const bool option = is_option(word);
  std::string text = word.empty() ? place + " needs a command"
                                  : "unknown " + std::string(option ? "option" : "command") +
                                        " \"" + word + "\" of `" + place + "`";
  const std::string meant = word.empty() ? "" : meant_by(word, known);
  if (!meant.empty()) return text + "; did you mean \"" + meant + "\"?";
  if (option) return text + ": `" + place + " --help` lists the options";
  return text + ": " + join(known, ", ") + "; `" + place + " --help` describes them";
}

UnknownWord find_unknown_word(const std::vector<std::string>& words, const Command& program) {
  return Walk(program).walk(words);
}

}  // namespace ibpod::ctl
