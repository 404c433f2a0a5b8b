// Runs a program and appends what it has cost to a file: wall, user and system time in microseconds
// and peak memory in KiB. Ends as the program does.
//
//   cost FILE PROGRAM [ARGUMENT...]
#include <chrono>
#include <cstdio>
#include <cstring>

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

namespace {

long long microseconds(const timeval& time) {
  return static_cast<long long>(time.tv_sec) * 1'000'000 + time.tv_usec;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  const int failure =
      ::posix_spawnp(&child, arguments[2], nullptr, nullptr, arguments + 2, environ);
  if (failure != 0) {
    std::fprintf(stderr, "%s: %s\n", arguments[2], std::strerror(failure));
    return 127;
  }
  int status = 0;
  rusage used{};
  if (::wait4(child, &status, 0, &used) != child) return 126;
  const auto wall = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  std::FILE* file = std::fopen(arguments[1], "a");
  if (file == nullptr) return 126;
  std::fprintf(file, "%lld %lld %lld %ld\n", static_cast<long long>(wall.count()),
               microseconds(used.ru_utime), microseconds(used.ru_stime), used.ru_maxrss);
  if (std::fclose(file) != 0) return 126;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
