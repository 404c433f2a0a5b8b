#include "tests/fabric/security/good_node.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>

namespace ibpod {

double GoodNode::Calls::at_percent(size_t percent) const {
  if (ms.empty()) return 0;
  std::vector<double> sorted = ms;
  std::sort(sorted.begin(), sorted.end());
  return sorted[std::min(sorted.size() * percent / 100, sorted.size() - 1)];
}

GoodNode::Calls& GoodNode::Calls::operator+=(const Calls& more) {
  ms.insert(ms.end(), more.ms.begin(), more.ms.end());
  bound += more.bound;
  failed += more.failed;
  if (!more.error.empty()) error = more.error;
  return *this;
}

GoodNode::Calls GoodNode::ask(Deadline end) {
  auto binding = std::async(std::launch::async, [&] { return bind(end); });
  Calls calls = sync(end);
  calls += binding.get();
  return calls;
}

GoodNode::Calls GoodNode::bind(Deadline end) {
  Calls calls;
  do {
    const Deadline deadline = Deadline::in(Duration(20'000));
    const auto bound = client_.bind(request_, deadline);
    const auto unbound = client_.unbind(request_.attachment, deadline);
    if (bound && unbound) {
      ++calls.bound;
      continue;
    }
    ++calls.failed;
    calls.error = bound ? "Unbind: " + unbound.error().text() : "Bind: " + bound.error().text();
  } while (!end.passed());
  return calls;
}

GoodNode::Calls GoodNode::sync(Deadline end) {
  using Clock = std::chrono::steady_clock;
  Calls calls;
  while (!end.passed()) {
    const auto asked = Clock::now();
    const auto answer =
        client_.sync({request_.attachment.node, {}}, Deadline::in(Duration(10'000)));
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
