#include "tests/vm/pod_calls.h"

#include "lib/base/fd.h"

#include <cstdlib>
#include <fstream>
#include <thread>

#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ibpod::vm {
namespace {

// A file without a name, in memory.
Result<Fd> memory_file(const std::string& content) {
  Fd fd(TRY(sys("memfd_create", [] { return ::memfd_create("faults", MFD_CLOEXEC); })));
  TRY(sys("pwrite", [&] { return ::pwrite(fd.get(), content.data(), content.size(), 0); }));
  return fd;
}

std::string content_of(const Fd& fd) {
  std::string content(1 << 16, '\0');
  const ssize_t count = ::pread(fd.get(), content.data(), content.size(), 0);
  content.resize(count < 0 ? 0 : static_cast<size_t>(count));
  return content;
}

// Runs `become` in a child without looking at its steps.
Result<Traced> run_free(const std::function<void()>& become) {
  const pid_t process = TRY(sys("fork", [] { return ::fork(); }));
  if (process == 0) {
    become();
    ::_exit(127);
  }
  int status = 0;
  TRY(sys("waitpid", [&] { return ::waitpid(process, &status, 0); }));
  Traced traced;
  traced.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return traced;
}

}  // namespace

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Held by a bind mount, as a container runtime does it.
Status Pod::make() const {
  std::filesystem::create_directories(path_.parent_path());
  std::ofstream{path_};
  Status made = ok();
  std::thread([&] { made = mount(); }).join();
  return made;
}

Status Pod::drop() const {
  TRY(sys("umount2", [&] { return ::umount2(path_.c_str(), MNT_DETACH); }));
  return remove_file(path_);
}

Status Pod::mount() const {
  TRY(sys("unshare", [] { return ::unshare(CLONE_NEWNET); }));
  // Duplicate address detection takes a second of nothing but looking again.
  std::ofstream("/proc/sys/net/ipv6/conf/default/accept_dad") << 0;
  TRY(sys("mount", [&] {
    return ::mount("/proc/thread-self/ns/net", path_.c_str(), "", MS_BIND, nullptr);
  }));
  return ok();
}

Plugin::Plugin(std::string program, const Pod& pod)
    : program_(std::move(program)),
      environment_{"CNI_CONTAINERID=faults",
                   "CNI_IFNAME=net1",
                   "CNI_NETNS=" + pod.path().string(),
                   "CNI_PATH=" + variable("CNI_PATH"),
                   "PATH=" + variable("PATH"),
                   "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=faults"} {}

Result<Answer> Plugin::call(const std::string& verb, const std::string& configuration,
                            Watched watched, const std::optional<Injection>& injection) const {
  const Fd in = TRY(memory_file(configuration));
  const Fd out = TRY(memory_file(""));
  const Fd err = TRY(memory_file(""));
  const auto become = [&] {
    ::dup2(in.get(), 0);
    ::dup2(out.get(), 1);
    ::dup2(err.get(), 2);
    execute(verb);
  };
  Answer answer;
  answer.traced = TRY(watched == Watched::yes ? trace(become, injection) : run_free(become));
  answer.output = content_of(out);
  answer.errors = content_of(err);
  return answer;
}

void Plugin::execute(const std::string& verb) const {
  std::vector<std::string> lines = environment_;
  lines.push_back("CNI_COMMAND=" + verb);
  std::vector<char*> environment;
  for (std::string& line : lines) environment.push_back(line.data());
  environment.push_back(nullptr);
  std::string program = program_;
  char* const arguments[] = {program.data(), nullptr};
  ::execve(program.c_str(), arguments, environment.data());
}

}  // namespace ibpod::vm
