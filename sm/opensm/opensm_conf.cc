#include "sm/opensm/opensm_conf.h"

#include "lib/base/private_file.h"
#include "lib/ib/hex.h"
#include "sm/opensm/key_file.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ibpod::sm::opensm {
namespace {

// Options that the engine depends on: OpenSM's log, and the files that it reads.
constexpr std::array<std::string_view, 10> kOurs{
    "partition_config_file",    "log_file",   "log_flags",         "force_log_flush",
    "per_module_logging_file",  "log_prefix", "keep_pkey_indexes", "part_enforce",
    "no_partition_enforcement", "daemon"};
// ibpod-sm has its own keys for these, because it uses their values too.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kConfigured{
    {{"guid", "port"},
     {"m_key", "mKeyFile"},
     {"m_key_protection_level", "mKeyProtection"},
     {"sm_key", "smKeyFile"},
     {"sa_key", "saKeyFile"},
     {"allow_both_pkeys", "allowBothPkeys"},
     {"qos", "qos"}}};

std::string line(std::string_view option, const std::string& value) {
  return std::string(option) + " " + value + "\n";
}

std::string_view yes_or_no(bool value) { return value ? "TRUE" : "FALSE"; }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

Result<std::string> key_lines(const OpenSmSettings& settings) {
  std::string text;
  const auto add = [&](std::string_view option, const Path& path) -> Status {
    if (path.empty()) return ok();
    const uint64_t key = TRY(read_key_file(path).during(option));
    if (key == 0 || (key == 1 && option != "m_key"))
      return Error(Code::invalid,
                   path.string() +
                       " contains a publicly known key, which protects nothing: choose another " +
                       std::string(option));
    text += line(option, "0x" + ib::hex(key, 16));
    return ok();
  };
  TRY(add("m_key", settings.keys.m_key));
  TRY(add("sm_key", settings.keys.sm_key));
  TRY(add("sa_key", settings.keys.sa_key));
  return text + line("m_key_protection_level", std::to_string(settings.m_key_protection));
}

// The reason to refuse a line; empty if it is accepted. OpenSM cuts a line at 1,023 bytes and reads
// the rest as the next line.
std::string refusal_of(std::string_view option) {
  constexpr size_t kMostLine = 1000;
  if (option.size() > kMostLine) return "longer than 1000 bytes, which OpenSM cuts";
  // OpenSM would end the line there.
  if (option.find('\0') != option.npos) return "contains a NUL byte";
  const std::string_view key = option.substr(0, option.find_first_of(" \t\r"));
  for (const auto& [configured, ours] : kConfigured)
    if (key == configured)
      return std::string(key) + ": set opensm." + std::string(ours) +
             " in ibpod-sm's configuration instead";
  if (std::find(kOurs.begin(), kOurs.end(), key) == kOurs.end()) return "";
  return std::string(key) + ": only ibpod-sm sets it";
}

// Reports all refused lines at once: a whole opensm.conf has many of them.
Result<std::string> more_lines(const Path& path) {
  if (path.empty()) return std::string();
  // An option may name a library that OpenSM loads.
  const std::string text = TRY(read_trusted_file(path, 1 << 20).during("opensm.moreOptionsFile"));
  std::string lines = "# from " + path.string() + "\n", refused;
  size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view option = trimmed(rest.substr(0, end));
    ++number;
    if (const std::string why = refusal_of(option); !why.empty())
      refused += (refused.empty() ? "line " : "; line ") + std::to_string(number) + ": " + why;
    lines.append(option).append("\n");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (refused.empty()) return lines;
  return Error(Code::invalid, "opensm.moreOptionsFile: " + path.string() + ": remove " + refused);
}

Status check_numbers(const OpenSmSettings& settings) {
  if (settings.priority > 15) return Error(Code::invalid, "priority: expected 0 to 15");
  if (settings.max_wire_smps < 1 || settings.max_wire_smps > 4096)
    return Error(Code::invalid, "max_wire_smps: expected 1 to 4096");
  if (settings.m_key_protection > 3)
    return Error(Code::invalid, "m_key_protection_level: expected 0 to 3");
  if (settings.polling_timeout < 10)
    return Error(Code::invalid, "sminfo_polling_timeout: expected at least 10 ms");
  if (settings.m_key_protection > 0 && settings.keys.m_key.empty())
    return Error(Code::invalid, "m_key_protection_level has no effect without an M_Key");
  return ok();
}

std::string timing_lines(const OpenSmSettings& settings) {
  return line("sm_priority", std::to_string(settings.priority)) +
         line("max_wire_smps", std::to_string(settings.max_wire_smps)) +
         line("sweep_interval", std::to_string(settings.sweep_interval)) +
         line("sminfo_polling_timeout", std::to_string(settings.polling_timeout)) +
         line("polling_retry_number", std::to_string(settings.polling_retries)) +
         line("use_ucast_cache", "TRUE");
}

std::string partition_lines(const OpenSmSettings& settings, const OpenSmPaths& paths) {
  const fabric::OpenSmOptions options = options_of(settings);
  return line("partition_config_file", paths.partitions.string()) +
         line("allow_both_pkeys", std::string(yes_or_no(options.allow_both_pkeys))) +
         line("qos", std::string(yes_or_no(options.qos))) + line("keep_pkey_indexes", "TRUE") +
         line("part_enforce", "both");
}

std::string log_lines(const OpenSmSettings& settings, const OpenSmPaths& paths) {
  return line("log_file", paths.log.string()) + line("log_flags", "0x03") +
         line("force_log_flush", "TRUE") +
         line("log_max_size", std::to_string(settings.log_megabytes)) +
         line("per_module_logging_file", paths.modules.string()) +
         line("dump_files_dir", paths.cache.string());
}

}  // namespace

OpenSmPaths::OpenSmPaths(const Path& folder)
    : partitions(folder / "partitions.conf"),
      conf(folder / "opensm.conf"),
      modules(folder / "modules.conf"),
      log(folder / "opensm.log"),
      cache(folder / "cache") {}

Status check(const OpenSmPaths& paths) {
  const std::string text = paths.partitions.parent_path().string();
  if (paths.partitions.is_absolute() && text.find_first_of(" \t\n#") == std::string::npos)
    return ok();
  return Error(Code::invalid,
               "\"" + text + "\": OpenSM needs an absolute path without blanks and #");
}

fabric::OpenSmOptions options_of(const OpenSmSettings& settings) {
  return {.allow_both_pkeys = settings.allow_both_pkeys, .qos = settings.qos};
}

Result<std::string> render_opensm_conf(const OpenSmSettings& settings, const OpenSmPaths& paths) {
  TRY(check_numbers(settings));
  TRY(check(paths));
  std::string text = "# Written by ibpod-sm at each start of OpenSM. It holds secrets.\n";
  if (settings.port) text += line("guid", "0x" + ib::hex(settings.port->value(), 16));
  text += partition_lines(settings, paths) + log_lines(settings, paths) + timing_lines(settings);
  const std::string keys = TRY(key_lines(settings));
  const std::string more = TRY(more_lines(settings.more));
  return text + keys + more;
}

Status check_more_options(const Path& path) {
  TRY(more_lines(path));
  return ok();
}

std::string opensm_modules() { return "osm_state_mgr.c 0x07\n"; }

}  // namespace ibpod::sm::opensm
