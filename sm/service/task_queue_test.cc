#include "sm/service/task_queue.h"

#include <string>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

using Share = CallQueue::Share;
constexpr CallQueue::Limits kTwo{.all = 2, .of_one = 2, .reserve_of_all = 0, .reserve_of_one = 0};

std::string run(std::optional<std::vector<Errands::Errand>> errands) {
  if (!errands) return "end";
  for (const Errands::Errand& errand : *errands) errand();
  return std::to_string(errands->size());
}

TEST_CASE("what is told comes before what is asked, and only so many calls wait") {
  Errands errands(kTwo);
  std::string done;
  const auto add = [&](const char* what) { return [&done, what] { done += what; }; };
  CHECK(errands.ask("n1", Share::ordinary, add("a")));
  errands.tell(add("b"));
  CHECK(errands.ask("n1", Share::ordinary, add("c")));
  CHECK(errands.ask("n1", Share::ordinary, add("x")).error().code() == Code::unavailable);
  errands.tell(add("d"));
  CHECK(run(errands.take({})) == "3");
  CHECK(done == "bda");
  CHECK(run(errands.take({})) == "1");
  CHECK(done == "bdac");
  CHECK(errands.ask("n1", Share::ordinary, add("e")));
  CHECK(run(errands.take({})) == "1");
}

TEST_CASE("one caller's many calls do not keep another's from the next turn") {
  Errands errands({});
  std::string done;
  const auto add = [&](const char* what) { return [&done, what] { done += what; }; };
  for (int n = 0; n < 100; ++n) CHECK(errands.ask("n1", Share::ordinary, add("a")));
  CHECK(run(errands.take({})) == "1");
  CHECK(errands.ask("n2", Share::ordinary, add("b")));
  errands.tell(add("!"));
  CHECK(run(errands.take({})) == "2");
  CHECK(run(errands.take({})) == "1");
  CHECK(done == "a!ab");
}

TEST_CASE("when it is over, what came before is still done, and nothing else is let in") {
  Errands errands(kTwo);
  int done = 0;
  CHECK(errands.ask("n1", Share::ordinary, [&] { ++done; }));
  CHECK(errands.ask("n1", Share::ordinary, [&] { ++done; }));
  errands.stop();
  CHECK_FALSE(errands.ask("n1", Share::administrator, [&] { ++done; }));
  errands.tell([&] { ++done; });
  CHECK(run(errands.take({})) == "1");
  CHECK(run(errands.take({})) == "1");
  CHECK(run(errands.take({})) == "end");
  CHECK(run(errands.take({})) == "end");
  CHECK(done == 2);
}

TEST_CASE("it waits until something is due, and is woken from any thread") {
  Errands errands(kTwo);
  CHECK(run(errands.take(Deadline::Clock::now())) == "0");
  std::jthread other([&] { errands.tell([] {}); });
  CHECK(run(errands.take({})) == "1");
  other = std::jthread([&] { errands.stop(); });
  CHECK(run(errands.take({})) == "end");
}

}  // namespace
}  // namespace ibpod::sm
