// How long things took, and how that is printed.
#pragma once

#include <chrono>
#include <vector>

namespace ibpod {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begun);

using Times = std::vector<double>;  // ms
double median(Times ms);
double p99(Times ms);
void print(const char* what, const Times& ms);
// Beside the goal, which nothing is judged by: that is for a machine that does nothing else.
void print_ratio(const char* what, double value, double goal);

}  // namespace ibpod
