#include "lib/base/files.h"
#include "sm/engine/opensm_process.h"

#include <algorithm>
#include <charconv>

#include <sys/stat.h>

namespace ibpod::sm {
namespace {

// What opensm was built with (Debian's).
constexpr std::string_view kDefaultConf = "/etc/opensm/opensm.conf";
constexpr std::string_view kDefaultPartitions = "/etc/opensm/partitions.conf";

std::optional<pid_t> pid_of(std::string_view text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), pid);
  if (error != std::errc() || end != text.end() || pid <= 0) return std::nullopt;
  return pid;
}

bool is_opensm(const std::vector<std::string>& words) {
  return !words.empty() && Path(words[0]).filename() == "opensm";
}

// The argument of the last such option: OpenSM takes "-F file", "-Ffile" and "--config file".
std::optional<std::string> option_of(const std::vector<std::string>& words, const std::string& flag,
                                     const std::string& word) {
  std::optional<std::string> found;
  for (size_t i = 1; i < words.size(); ++i) {
    const bool apart = words[i] == flag || words[i] == "--" + word || words[i] == "-" + word;
    if (apart && i + 1 < words.size()) found = words[i + 1];
    if (words[i].starts_with("--" + word + "=")) found = words[i].substr(word.size() + 3);
    if (!apart && words[i].starts_with(flag)) found = words[i].substr(flag.size());
  }
  return found;
}

// As OpenSM reads it (osm_subnet.c): "key value", '#' ends a line, the last one counts.
std::optional<std::string> value_of(std::string_view conf, std::string_view key) {
  constexpr std::string_view kBlank = " \t\r";
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

bool same_folder(const Path& a, const Path& b) {
  struct stat first = {};
  struct stat second = {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

Status expect_option(std::string_view conf, std::string_view key, bool wanted) {
  const bool is = value_of(conf, key).value_or("FALSE") == "TRUE";
  if (is == wanted) return ok();
  return Error(Code::invalid, "its configuration needs \"" + std::string(key) +
                                  (wanted ? " TRUE\"" : " FALSE\"") + ", and a restart");
}

}  // namespace

Result<pid_t> read_pid_file(const Path& path) {
  const std::string text = TRY(read_file(path, 64));
  const auto pid = pid_of(std::string_view(text).substr(0, text.find_last_not_of(" \n") + 1));
  if (!pid) return Error(Code::invalid, path.string() + " holds no process number");
  return *pid;
}

Result<std::vector<std::string>> Processes::words_of(pid_t pid) const {
  const std::string text = TRY(read_file(proc_ / std::to_string(pid) / "cmdline"));
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

Path Processes::seen_by(pid_t pid, const Path& path) const {
  const Path process = proc_ / std::to_string(pid);
  return path.is_absolute() ? process / "root" / path.relative_path() : process / "cwd" / path;
}

Result<std::optional<pid_t>> Processes::find_opensm(const Path& conf) const {
  const auto names = TRY(list_folder(proc_));
  for (const std::string& name : names) {
    const auto pid = pid_of(name);
    if (!pid) continue;
    const auto words = words_of(*pid);
    if (words && is_opensm(*words) && option_of(*words, "-F", "config") == conf.string())
      return pid;
  }
  return std::optional<pid_t>();
}

Status Processes::check_opensm(pid_t pid, const Path& partitions,
                               const fabric::OpenSmOptions& options) const {
  const auto words = TRY(words_of(pid));
  const std::string process = "process " + std::to_string(pid);
  if (!is_opensm(words)) return Error(Code::invalid, process + " is no OpenSM");
  const Path conf = option_of(words, "-F", "config").value_or(std::string(kDefaultConf));
  const auto read = read_file(seen_by(pid, conf));
  if (!read && read.error().code() != Code::not_found) return read.error();
  const std::string text = read ? *read : std::string();
  const Path file =
      option_of(words, "-P", "Pconfig")
          .value_or(
              value_of(text, "partition_config_file").value_or(std::string(kDefaultPartitions)));
  if (file.filename() != partitions.filename() ||
      !same_folder(seen_by(pid, file).parent_path(), partitions.parent_path())) {
    return Error(Code::invalid, "OpenSM, " + process + ", takes its partitions from " +
                                    file.string() + " and not from " + partitions.string() +
                                    ": set partition_config_file, and restart it");
  }
  TRY(expect_option(text, "allow_both_pkeys", options.allow_both_pkeys)
          .during("OpenSM, " + process));
  return expect_option(text, "qos", options.qos).during("OpenSM, " + process);
}

}  // namespace ibpod::sm
