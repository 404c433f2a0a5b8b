#include "sm/service/errands.h"

#include <string>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

std::string run(std::optional<std::vector<Errands::Errand>> errands) {
  if (!errands) return "end";
  for (const Errands::Errand& errand : *errands) errand();
  return std::to_string(errands->size());
}

TEST_CASE("errands are run in the order they came, and only so many requests wait") {
  Errands errands(2);
  std::string done;
  const auto add = [&](const char* what) { return [&done, what] { done += what; }; };
  CHECK(errands.ask(add("a")));
  errands.tell(add("b"));
  CHECK(errands.ask(add("c")));
  CHECK_FALSE(errands.ask(add("x")));
  errands.tell(add("d"));
  CHECK(run(errands.take({})) == "4");
  CHECK(done == "abcd");
  CHECK(errands.ask(add("e")));
  CHECK(run(errands.take({})) == "1");
}

TEST_CASE("when it is over, what came before is still done, and nothing else is let in") {
  Errands errands(2);
  int done = 0;
  CHECK(errands.ask([&] { ++done; }));
  errands.stop();
  CHECK_FALSE(errands.ask([&] { ++done; }));
  errands.tell([&] { ++done; });
  CHECK(run(errands.take({})) == "1");
  CHECK(run(errands.take({})) == "end");
  CHECK(run(errands.take({})) == "end");
  CHECK(done == 1);
}

TEST_CASE("it waits until something is due, and is woken from any thread") {
  Errands errands(2);
  CHECK(run(errands.take(Deadline::Clock::now())) == "0");
  std::jthread other([&] { errands.tell([] {}); });
  CHECK(run(errands.take({})) == "1");
  other = std::jthread([&] { errands.stop(); });
  CHECK(run(errands.take({})) == "end");
}

}  // namespace
}  // namespace ibpod::sm
