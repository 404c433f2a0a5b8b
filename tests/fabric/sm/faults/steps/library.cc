// To be loaded before all other libraries: counts the steps of the process (steps.h), and ends it
// with SIGKILL right before the one that the test has chosen.
#include "tests/fabric/sm/faults/steps/steps.h"

#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ibpod {
namespace {

// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym and mmap return.

// The function of that name in the next library. Without a guard: calls that wait for one come
// here.
template <typename Call>
class Next {
 public:
  constexpr explicit Next(const char* name) : name_(name) {}
  template <typename... Words>
  auto operator()(Words... words) {
    Call* found = found_.load();
    if (found == nullptr) {
      found = reinterpret_cast<Call*>(::dlsym(RTLD_NEXT, name_));
      found_.store(found);
    }
    return found(words...);
  }

 private:
  const char* name_;
  std::atomic<Call*> found_{nullptr};
};

Steps* map_steps() {
  const char* const file = std::getenv(Steps::kFile);
  if (file == nullptr) return nullptr;
  const int fd = ::open(file, O_RDWR | O_CLOEXEC);
  if (fd < 0) return nullptr;
  void* const at = ::mmap(nullptr, sizeof(Steps), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return at == MAP_FAILED ? nullptr : reinterpret_cast<Steps*>(at);
}

// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

Steps* steps() {
  static Steps* const mapped = map_steps();
  return mapped;
}

bool armed() { return steps() != nullptr && steps()->left.load() >= 0; }

bool counts(const std::string& path) {
  static const char* const folder = std::getenv(Steps::kFolder);
  return folder != nullptr && path.starts_with(folder);
}

std::string path_of(int fd) {
  std::string path(4096, '\0');
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
  path.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return path;
}

constexpr int kFirstOfSubnet = 1024;  // descriptors from there on are the simulated subnet's

// A packet that sets something: 256 bytes that follow the kernel's header.
bool sets(int fd, const void* bytes, size_t size) {
  constexpr size_t kMad = 256, kMethod = 3;
  constexpr unsigned char kSet = 2;
  return fd >= kFirstOfSubnet && size > kMad &&
         static_cast<const unsigned char*>(bytes)[size - kMad + kMethod] == kSet;
}

// A connection to UFM: ibpod-sm has no others by TCP.
bool is_tcp(int fd) {
  int domain = 0, type = 0;
  socklen_t size = sizeof domain;
  return fd < kFirstOfSubnet && ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
         ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && domain == AF_INET &&
         type == SOCK_STREAM;
}

// True if this is the last step.
bool take(const char* call, const std::string& of) {
  ++steps()->taken;
  if (steps()->left.fetch_sub(1) != 0) return false;
  const std::string name = of.substr(of.rfind('/') + 1);
  std::snprintf(steps()->last.data(), steps()->last.size(), "%s %s", call, name.c_str());
  return true;
}

void end() {
  for (;;) ::kill(::getpid(), SIGKILL);
}

void step(const char* call, const std::string& of) {
  if (take(call, of)) end();
}

void step_at(const char* call, int fd) {
  if (!armed()) return;
  const std::string path = path_of(fd);
  if (counts(path)) step(call, path);
}

// `write`: of so many bytes of them.
template <typename Write>
void step_writing(const char* call, int fd, const void* bytes, size_t size, const Write& write) {
  if (!armed()) return;
  const bool packet = sets(fd, bytes, size), to_ufm = !packet && is_tcp(fd);
  const std::string path = packet ? "P_KeyTable" : to_ufm ? "UFM" : path_of(fd);
  if ((!packet && !to_ufm && !counts(path)) || !take(call, path)) return;
  if (steps()->torn && !packet) (void)write(size / 2);
  end();
}

// So many bytes of an answer have been read, and nothing has come of them.
void step_reading(const char* call, int fd, ssize_t size) {
  if (size > 0 && armed() && is_tcp(fd)) step(call, "UFM");
}

}  // namespace
}  // namespace ibpod

// The calls themselves. NOLINTBEGIN(readability-identifier-naming)
extern "C" {

ssize_t write(int fd, const void* bytes, size_t size) {
  static constinit ibpod::Next<ssize_t(int, const void*, size_t)> real("write");
  ibpod::step_writing("write", fd, bytes, size, [&](size_t some) { return real(fd, bytes, some); });
  return real(fd, bytes, size);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  static constinit ibpod::Next<ssize_t(int, const void*, size_t, off_t)> real("pwrite");
  ibpod::step_writing("pwrite", fd, bytes, size,
                      [&](size_t some) { return real(fd, bytes, some, at); });
  return real(fd, bytes, size, at);
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
  static constinit ibpod::Next<ssize_t(int, const void*, size_t, off64_t)> real("pwrite64");
  ibpod::step_writing("pwrite", fd, bytes, size,
                      [&](size_t some) { return real(fd, bytes, some, at); });
  return real(fd, bytes, size, at);
}

ssize_t send(int fd, const void* bytes, size_t size, int flags) {
  static constinit ibpod::Next<ssize_t(int, const void*, size_t, int)> real("send");
  if (ibpod::armed() && ibpod::is_tcp(fd))
    ibpod::step_writing("send", fd, bytes, size,
                        [&](size_t some) { return real(fd, bytes, some, flags); });
  return real(fd, bytes, size, flags);
}

ssize_t recv(int fd, void* bytes, size_t size, int flags) {
  static constinit ibpod::Next<ssize_t(int, void*, size_t, int)> real("recv");
  const ssize_t got = real(fd, bytes, size, flags);
  ibpod::step_reading("recv", fd, got);
  return got;
}

ssize_t read(int fd, void* bytes, size_t size) {
  static constinit ibpod::Next<ssize_t(int, void*, size_t)> real("read");
  const ssize_t got = real(fd, bytes, size);
  ibpod::step_reading("read", fd, got);
  return got;
}

int ftruncate(int fd, off_t size) noexcept {
  static constinit ibpod::Next<int(int, off_t)> real("ftruncate");
  ibpod::step_at("ftruncate", fd);
  return real(fd, size);
}

int ftruncate64(int fd, off64_t size) noexcept {
  static constinit ibpod::Next<int(int, off64_t)> real("ftruncate64");
  ibpod::step_at("ftruncate", fd);
  return real(fd, size);
}

int fsync(int fd) {
  static constinit ibpod::Next<int(int)> real("fsync");
  ibpod::step_at("fsync", fd);
  return real(fd);
}

int fdatasync(int fd) {
  static constinit ibpod::Next<int(int)> real("fdatasync");
  ibpod::step_at("fdatasync", fd);
  return real(fd);
}

int rename(const char* from, const char* to) noexcept {
  static constinit ibpod::Next<int(const char*, const char*)> real("rename");
  if (ibpod::armed() && ibpod::counts(to)) ibpod::step("rename", to);
  return real(from, to);
}

int unlink(const char* path) noexcept {
  static constinit ibpod::Next<int(const char*)> real("unlink");
  if (ibpod::armed() && ibpod::counts(path)) ibpod::step("unlink", path);
  return real(path);
}

int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* words, char* const* settings) {
  static constinit ibpod::Next<int(pid_t*, const char*, const posix_spawn_file_actions_t*,
                                   const posix_spawnattr_t*, char* const*, char* const*)>
      real("posix_spawn");
  if (ibpod::armed()) ibpod::step("posix_spawn", path);
  return real(pid, path, actions, attributes, words, settings);
}

long syscall(long number, ...) noexcept {
  static constinit ibpod::Next<long(long, ...)> real("syscall");
  va_list given;
  va_start(given, number);
  long words[6];
  for (long& word : words) word = va_arg(given, long);
  va_end(given);
  if (number == SYS_pidfd_send_signal && ibpod::armed())
    ibpod::step("signal", std::to_string(words[1]));
  return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
