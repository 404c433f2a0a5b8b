#include "sm/api/call_queue.h"

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

using Share = CallQueue::Share;

struct Queue {
  explicit Queue(CallQueue::Limits limits = {}) : calls(limits) {}
  bool push(const std::string& caller, const std::string& what, Share share = Share::ordinary) {
    const Status pushed = calls.push(caller, share, [this, what] { done += what; });
    if (!pushed) refusal = pushed.error().text();
    return pushed.ok();
  }
  std::string take(size_t most) {
    done.clear();
    for (const CallQueue::Call& call : calls.take(most)) call();
    return done;
  }
  CallQueue calls;
  std::string done, refusal;
};

TEST_CASE("calls: callers take turns, each in the order in which it has asked") {
  Queue queue;
  for (const char* call : {"a", "b", "c", "d"}) CHECK(queue.push("n1", call));
  CHECK(queue.push("n2", "A"));
  CHECK(queue.push("n3", "1"));
  CHECK(queue.push("n3", "2"));
  CHECK(queue.take(4) == "aA1b");
  CHECK(queue.push("n2", "B"));
  CHECK_MESSAGE(queue.take(2) == "2c", "who has had no turn since is first");
  CHECK(queue.take(9) == "Bd");
  CHECK(queue.calls.size() == 0);
  CHECK(queue.take(9).empty());
}

TEST_CASE("calls: a caller's places are bounded, but for those of Unbind and Sync a little later") {
  Queue queue({.all = 100, .of_one = 4, .reserve_of_all = 10, .reserve_of_one = 2});
  CHECK(queue.push("n1", "a"));
  CHECK(queue.push("n1", "b"));
  CHECK_FALSE(queue.push("n1", "c"));
  CHECK(queue.refusal == "n1: limit of waiting calls reached (2); try again later");
  CHECK(queue.push("n1", "d", Share::reserved));
  CHECK(queue.push("n1", "e", Share::reserved));
  CHECK_FALSE(queue.push("n1", "f", Share::reserved));
  CHECK_MESSAGE(queue.push("n2", "A"), "another caller does not feel it");
  for (int n = 0; n < 20; ++n) CHECK(queue.push("admin", "", Share::administrator));
  CHECK(queue.take(100) == "aAbde");
}

TEST_CASE(
    "calls: when all ordinary places are taken, Unbind, Sync and administrators have theirs") {
  Queue queue({.all = 5, .of_one = 2, .reserve_of_all = 2, .reserve_of_one = 0});
  CHECK(queue.push("n1", "a"));
  CHECK(queue.push("n1", "b"));
  CHECK(queue.push("n2", "c"));
  CHECK_FALSE(queue.push("n3", "d"));
  CHECK(queue.refusal == "limit of waiting calls of all callers reached (3); try again later");
  CHECK(queue.push("n3", "e", Share::reserved));
  CHECK(queue.push("admin", "f", Share::administrator));
  CHECK_FALSE(queue.push("admin", "g", Share::administrator));
  CHECK(queue.take(1) == "a");
  CHECK(queue.push("admin", "h", Share::administrator));
}

}  // namespace
}  // namespace ibpod::sm::api
