#include "sm/opensm/opensm_options.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace ibpod::sm::opensm {
namespace {

constexpr std::string_view kBlank = " \t\r";

struct Option {
  std::string_view name;
  std::string_view otherwise;  // of Debian's OpenSM 3.3.23
  const char* flag = nullptr;  // on the command line
  const char* word = nullptr;
  bool argument = true;  // false: the flag alone means TRUE
};
constexpr std::array kOptions{
    Option{"partition_config_file", "/etc/opensm/partitions.conf", "-P", "Pconfig"},
    Option{"log_file", "/var/log/opensm.log", "-f", "log_file"},
    Option{"log_flags", "0x03", "-D", "D"},
    Option{"force_log_flush", "FALSE"},
    Option{"per_module_logging_file", "/etc/opensm/per-module-logging.conf"},
    Option{"keep_pkey_indexes", "TRUE"},
    Option{"part_enforce", "both", "-Z", "part_enforce"},
    Option{"no_partition_enforcement", "FALSE", "-N", "no_part_enforce", false},
    Option{"allow_both_pkeys", "FALSE", "-W", "allow_both_pkeys", false},
    Option{"qos", "FALSE", "-Q", "qos", false},
};

// Reads a value as OpenSM does (osm_subnet.c): "key value", '#' ends a line, and the last one
// counts.
std::optional<std::string> value_of(std::string_view conf, std::string_view key) {
  std::optional<std::string> found;
  while (!conf.empty()) {
    const size_t end = std::min(conf.find('\n'), conf.size());
    std::string_view line = conf.substr(0, end);
    conf.remove_prefix(std::min(end + 1, conf.size()));
    line = line.substr(0, line.find('#'));
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    if (!line.starts_with(key) || line.size() == key.size()) continue;
    std::string_view value = line.substr(key.size());
    if (kBlank.find(value.front()) == std::string_view::npos) continue;
    value.remove_prefix(std::min(value.find_first_not_of(kBlank), value.size()));
    found = value.substr(0, value.find_first_of(kBlank));
  }
  return found;
}

bool has_flag(const std::vector<std::string>& words, const Option& option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == option.flag || word == std::string("--") + option.word;
  });
}

Status expect(const OpenSmOptionsFile& options, std::string_view name, std::string_view desired) {
  if (options.value(name) == desired) return ok();
  return Error(Code::invalid, "set \"" + std::string(name) + " " + std::string(desired) +
                                  "\" in its configuration and restart it");
}

unsigned long number(const std::string& text) { return std::strtoul(text.c_str(), nullptr, 0); }

// Checks the level of the messages about sweeps (opensm_modules()): the module's, or else the
// global one.
Status check_log(const OpenSmOptionsFile& options, std::string_view modules) {
  constexpr unsigned long kErrorsAndInfo = 0x03;
  constexpr unsigned long kSweeps = 0x07;
  const unsigned long flags = number(options.value("log_flags"));
  if ((flags & kErrorsAndInfo) != kErrorsAndInfo)
    return Error(Code::invalid,
                 "set \"log_flags 0x03\" or more in its configuration and restart it");
  const auto module = value_of(modules, "osm_state_mgr.c");
  if (((module ? number(*module) : flags) & kSweeps) == kSweeps) return ok();
  return Error(Code::invalid,
               "add the line \"osm_state_mgr.c 0x07\" to its per_module_logging_file, " +
                   options.value("per_module_logging_file"));
}

}  // namespace

std::optional<std::string> argument_of(const std::vector<std::string>& words,
                                       const std::string& flag, const std::string& word) {
  std::optional<std::string> found;
  for (size_t i = 1; i < words.size(); ++i) {
    const bool apart = words[i] == flag || words[i] == "--" + word || words[i] == "-" + word;
    if (apart && i + 1 < words.size()) found = words[i + 1];
    if (words[i].starts_with("--" + word + "=")) found = words[i].substr(word.size() + 3);
    if (!apart && words[i].starts_with(flag)) found = words[i].substr(flag.size());
  }
  return found;
}

std::string OpenSmOptionsFile::value(std::string_view name) const {
  const auto* const option = std::find_if(kOptions.begin(), kOptions.end(),
                                          [&](const Option& one) { return one.name == name; });
  if (option == kOptions.end()) return value_of(conf, name).value_or("");
  std::optional<std::string> value;
  if (option->flag != nullptr && option->argument)
    value = argument_of(words, option->flag, option->word);
  if (option->flag != nullptr && !option->argument && has_flag(words, *option)) value = "TRUE";
  if (!value) value = value_of(conf, name);
  return value.value_or(std::string(option->otherwise));
}

Status check_options(const OpenSmOptionsFile& options, std::string_view modules,
                     const fabric::OpenSmOptions& desired) {
  const auto yes_or_no = [](bool value) { return value ? "TRUE" : "FALSE"; };
  TRY(expect(options, "allow_both_pkeys", yes_or_no(desired.allow_both_pkeys)));
  TRY(expect(options, "qos", yes_or_no(desired.qos)));
  TRY(expect(options, "keep_pkey_indexes", "TRUE"));
  TRY(expect(options, "no_partition_enforcement", "FALSE"));
  if (options.value("part_enforce") == "off") TRY(expect(options, "part_enforce", "both"));
  TRY(expect(options, "force_log_flush", "TRUE"));
  return check_log(options, modules);
}

}  // namespace ibpod::sm::opensm
