#include "lib/base/files.h"
#include "sm/engine/opensm_options.h"
#include "sm/engine/opensm_process.h"

#include <algorithm>
#include <charconv>

#include <sys/stat.h>

namespace ibpod::sm {
namespace {

// What opensm was built with (Debian's).
constexpr std::string_view kDefaultConf = "/etc/opensm/opensm.conf";

std::optional<pid_t> pid_of(std::string_view text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), pid);
  if (error != std::errc() || end != text.end() || pid <= 0) return std::nullopt;
  return pid;
}

bool is_opensm(const std::vector<std::string>& words) {
  return !words.empty() && Path(words[0]).filename() == "opensm";
}

bool same_folder(const Path& a, const Path& b) {
  struct stat first = {};
  struct stat second = {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
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
    if (words && is_opensm(*words) && argument_of(*words, "-F", "config") == conf.string())
      return pid;
  }
  return std::optional<pid_t>();
}

Result<std::string> Processes::read_seen_by(pid_t pid, const Path& path) const {
  auto text = read_file(seen_by(pid, path));
  if (!text && text.error().code() == Code::not_found) return std::string();
  return text;
}

bool Processes::is_file(pid_t pid, const Path& theirs, const Path& ours) const {
  return theirs.filename() == ours.filename() &&
         same_folder(seen_by(pid, theirs).parent_path(), ours.parent_path());
}

Status Processes::check_opensm(pid_t pid, const Expected& wanted) const {
  const auto words = TRY(words_of(pid));
  const std::string process = "process " + std::to_string(pid);
  if (!is_opensm(words)) return Error(Code::invalid, process + " is no OpenSM");
  const Path conf = argument_of(words, "-F", "config").value_or(std::string(kDefaultConf));
  const std::string text = TRY(read_seen_by(pid, conf));
  const OpenSmOptionsFile options{words, text};
  const Path file = options.value("partition_config_file");
  if (!is_file(pid, file, wanted.partitions)) {
    return Error(Code::invalid, "OpenSM, " + process + ", takes its partitions from " +
                                    file.string() + " and not from " + wanted.partitions.string() +
                                    ": set partition_config_file, and restart it");
  }
  const Path log = options.value("log_file");
  if (!is_file(pid, log, wanted.log)) {
    return Error(Code::invalid, "OpenSM, " + process + ", has its log in " + log.string() +
                                    " and not in " + wanted.log.string() +
                                    ": set log_file, and restart it");
  }
  const std::string modules = TRY(read_seen_by(pid, options.value("per_module_logging_file")));
  return check_options(options, modules, wanted.options).during("OpenSM, " + process);
}

}  // namespace ibpod::sm
