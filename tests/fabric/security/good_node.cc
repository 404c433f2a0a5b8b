#include "tests/fabric/security/good_node.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace ibpod {

double GoodNode::Calls::at_percent(size_t percent) const {
  if (ms.empty()) return 0;
  std::vector<double> sorted = ms;
  std::sort(sorted.begin(), sorted.end());
  return sorted[std::min(sorted.size() * percent / 100, sorted.size() - 1)];
}

GoodNode::Calls GoodNode::ask(Deadline end) {
  using Clock = std::chrono::steady_clock;
  Calls calls;
  while (!end.passed()) {
    const auto asked = Clock::now();
    const auto answer = client_.sync({node_, {}}, Deadline::in(Duration(10'000)));
    if (answer) {
      calls.ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - asked).count());
    } else {
      ++calls.failed;
      calls.error = answer.error().text();
    }
    std::this_thread::sleep_until(asked + Duration(50));
  }
  return calls;
}

}  // namespace ibpod
