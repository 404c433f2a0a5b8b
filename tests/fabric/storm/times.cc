#include "tests/fabric/storm/times.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace ibpod {
namespace {

double at(Times ms, size_t percent) {
  if (ms.empty()) return 0;
  std::sort(ms.begin(), ms.end());
  return ms[std::min(ms.size() * percent / 100, ms.size() - 1)];
}

}  // namespace

double ms_since(Clock::time_point begun) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

double median(Times ms) { return at(std::move(ms), 50); }
double p99(Times ms) { return at(std::move(ms), 99); }

void print(const char* what, const Times& ms) {
  std::printf("%-34s min %7.1f  median %7.1f  p99 %7.1f  max %7.1f ms  (%zu)\n", what, at(ms, 0),
              median(ms), p99(ms), at(ms, 100), ms.size());
  std::fflush(stdout);
}

void print_ratio(const char* what, double value, double goal) {
  std::printf("%-60s %5.2f  (goal: at most %.1f)\n", what, value, goal);
  std::fflush(stdout);
}

}  // namespace ibpod
