#include "lib/base/files.h"
#include "lib/base/private_file.h"
#include "sm/opensm/opensm_options.h"
#include "sm/opensm/opensm_process.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

namespace ibpod::sm::opensm {
namespace {

// The default path in Debian's opensm.
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

// The kernel's suffix to the name of an executed file that was deleted.
constexpr std::string_view kDeleted = " (deleted)";

bool is_script(const Path& program) {
  std::array<char, 2> begin{};
  std::ifstream(program).read(begin.data(), begin.size());
  return begin == std::array{'#', '!'};
}

bool same_file(const Path& a, const Path& b) {
  struct stat first = {};
  struct stat second = {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace

Result<pid_t> read_pid_file(const Path& path) {
  // Signals go to this process.
  const std::string text = TRY(read_trusted_file(path, 64));
  const auto pid = pid_of(std::string_view(text).substr(0, text.find_last_not_of(" \n") + 1));
  if (!pid) return Error(Code::invalid, path.string() + " contains no process ID");
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

bool Processes::is_of_our_user(pid_t pid) const {
  struct stat process = {};
  return ::stat((proc_ / std::to_string(pid)).c_str(), &process) == 0 &&
         process.st_uid == ::geteuid();
}

bool Processes::is_in_our_pid_namespace(pid_t pid) const {
  return same_file(proc_ / std::to_string(pid) / "ns/pid", proc_ / "self/ns/pid");
}

std::string Processes::executable_of(pid_t pid) const {
  std::error_code error;
  return std::filesystem::read_symlink(proc_ / std::to_string(pid) / "exe", error).native();
}

// Only root or our own user must control what it executes.
bool Processes::has_trusted_executable(pid_t pid) const {
  struct stat found = {};
  const Path link = proc_ / std::to_string(pid) / "exe";
  return ::stat(link.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
         (found.st_uid == 0 || found.st_uid == ::geteuid()) &&
         (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// A program that was upgraded since is another file of the same name. A script is executed by its
// interpreter, or by a program that it started instead: any program that others cannot write.
bool Processes::executes(pid_t pid, const Path& program) const {
  if (is_script(program)) return has_trusted_executable(pid);
  const Path link = proc_ / std::to_string(pid) / "exe";
  return same_file(link, program) || executable_of(pid) == program.native() + std::string(kDeleted);
}

bool Processes::is_opensm_of(pid_t pid, const Path& conf, const Path& program) const {
  const auto words = words_of(pid);
  return words && is_opensm(*words) && argument_of(*words, "-F", "config") == conf.string() &&
         is_of_our_user(pid) && is_in_our_pid_namespace(pid) && executes(pid, program);
}

Result<std::optional<pid_t>> Processes::find_opensm(const Path& conf, const Path& program) const {
  const auto names = TRY(list_folder(proc_));
  for (const std::string& name : names) {
    const auto pid = pid_of(name);
    if (pid && is_opensm_of(*pid, conf, program)) return pid;
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
         same_file(seen_by(pid, theirs).parent_path(), ours.parent_path());
}

// The command line alone proves nothing.
Status Processes::check_identity(pid_t pid, const Path& program) const {
  const std::string process = "process " + std::to_string(pid) + " is named opensm but ";
  if (!is_of_our_user(pid)) return Error(Code::denied, process + "does not run as root");
  if (!is_in_our_pid_namespace(pid))
    return Error(Code::denied, process +
                                   "runs in another PID namespace: run it in the PID namespace of "
                                   "ibpod-sm (in a pod, set shareProcessNamespace)");
  std::string executable = executable_of(pid);
  if (executable.ends_with(kDeleted)) executable.resize(executable.size() - kDeleted.size());
  const bool named = Path(executable).filename() == "opensm" || executes(pid, program);
  if (named && has_trusted_executable(pid)) return ok();
  return Error(Code::denied,
               process + "executes " + executable +
                   ": expected a program owned by root and named opensm, or opensm.program (" +
                   program.string() + "), which other users cannot write");
}

Status Processes::check_opensm(pid_t pid, const ExpectedOpensm& desired) const {
  const auto words = TRY(words_of(pid));
  const std::string process = "process " + std::to_string(pid);
  if (!is_opensm(words)) return Error(Code::invalid, process + " is not OpenSM");
  TRY(check_identity(pid, desired.program));
  const Path conf = argument_of(words, "-F", "config").value_or(std::string(kDefaultConf));
  const std::string text = TRY(read_seen_by(pid, conf));
  const OpenSmOptionsFile options{words, text};
  const Path file = options.value("partition_config_file");
  if (!is_file(pid, file, desired.partitions)) {
    return Error(Code::invalid, "OpenSM (" + process + ") reads its partitions from " +
                                    file.string() + ", not from " + desired.partitions.string() +
                                    ": set partition_config_file and restart OpenSM");
  }
  const Path log = options.value("log_file");
  if (!is_file(pid, log, desired.log)) {
    return Error(Code::invalid, "OpenSM (" + process + ") writes its log to " + log.string() +
                                    ", not to " + desired.log.string() +
                                    ": set log_file and restart OpenSM");
  }
  const std::string modules = TRY(read_seen_by(pid, options.value("per_module_logging_file")));
  return check_options(options, modules, desired.options).during("OpenSM (" + process + ")");
}

}  // namespace ibpod::sm::opensm
