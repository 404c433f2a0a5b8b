#include "sm/api/task_queue.h"

#include <string>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

using Share = CallQueue::Share;
constexpr CallQueue::Limits kTwo{.all = 2, .of_one = 2, .reserve_of_all = 0, .reserve_of_one = 0};

std::string run(std::optional<std::vector<TaskQueue::Task>> tasks) {
  if (!tasks) return "end";
  for (const TaskQueue::Task& task : *tasks) task();
  return std::to_string(tasks->size());
}

TEST_CASE("what is told comes before what is asked, and only so many calls wait") {
  TaskQueue tasks(kTwo);
  std::string done;
  const auto add = [&](const char* what) { return [&done, what] { done += what; }; };
  CHECK(tasks.try_post("n1", Share::ordinary, add("a")));
  tasks.post(add("b"));
  CHECK(tasks.try_post("n1", Share::ordinary, add("c")));
  CHECK(tasks.try_post("n1", Share::ordinary, add("x")).error().code() == Code::unavailable);
  tasks.post(add("d"));
  CHECK(run(tasks.take({})) == "3");
  CHECK(done == "bda");
  CHECK(run(tasks.take({})) == "1");
  CHECK(done == "bdac");
  CHECK(tasks.try_post("n1", Share::ordinary, add("e")));
  CHECK(run(tasks.take({})) == "1");
}

TEST_CASE("one caller's many calls do not keep another's from the next turn") {
  TaskQueue tasks({});
  std::string done;
  const auto add = [&](const char* what) { return [&done, what] { done += what; }; };
  for (int n = 0; n < 100; ++n) CHECK(tasks.try_post("n1", Share::ordinary, add("a")));
  CHECK(run(tasks.take({})) == "1");
  CHECK(tasks.try_post("n2", Share::ordinary, add("b")));
  tasks.post(add("!"));
  CHECK(run(tasks.take({})) == "2");
  CHECK(run(tasks.take({})) == "1");
  CHECK(done == "a!ab");
}

TEST_CASE("when it is over, what came before is still done, and nothing else is let in") {
  TaskQueue tasks(kTwo);
  int done = 0;
  CHECK(tasks.try_post("n1", Share::ordinary, [&] { ++done; }));
  CHECK(tasks.try_post("n1", Share::ordinary, [&] { ++done; }));
  tasks.stop();
  CHECK_FALSE(tasks.try_post("n1", Share::administrator, [&] { ++done; }));
  tasks.post([&] { ++done; });
  CHECK(run(tasks.take({})) == "1");
  CHECK(run(tasks.take({})) == "1");
  CHECK(run(tasks.take({})) == "end");
  CHECK(run(tasks.take({})) == "end");
  CHECK(done == 2);
}

TEST_CASE("it waits until something is due, and is woken from any thread") {
  TaskQueue tasks(kTwo);
  CHECK(run(tasks.take(Deadline::Clock::now())) == "0");
  std::jthread other([&] { tasks.post([] {}); });
  CHECK(run(tasks.take({})) == "1");
  other = std::jthread([&] { tasks.stop(); });
  CHECK(run(tasks.take({})) == "end");
}

}  // namespace
}  // namespace ibpod::sm::api
