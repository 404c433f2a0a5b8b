#include "lib/rpc/acceptor.h"

#include "tests/support/in_time.h"

#include <atomic>

#include <doctest/doctest.h>
#include <sys/eventfd.h>

namespace ibpod::rpc {
namespace {

// Readable.
Fd rung() { return Fd(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)); }

TEST_CASE("acceptor: it looks at what it has to, however many connections wait") {
  const Fd listening = rung(), activity = rung();
  std::atomic<size_t> taken = 0, looks = 0;
  const auto acceptor = Acceptor::start(listening.get(),
                                        [&] {
                                          // A connection always waits; the limit ends the test.
                                          return ++taken < 100'000'000
                                                     ? Acceptor::AcceptResult::accepted
                                                     : Acceptor::AcceptResult::out_of_resources;
                                        },
                                        {activity.get(), [&] {
                                           ++looks;
                                           return Acceptor::Next{Duration(1), std::nullopt};
                                         }});
  REQUIRE(acceptor);
  CHECK(in_time([&] { return looks > 2; }));
  CHECK(taken < 100'000'000);
}

TEST_CASE("acceptor: nothing is taken for a while where nothing can be, and it looks meanwhile") {
  const Fd listening = rung(), activity = rung();
  std::atomic<size_t> taken = 0, looks = 0;
  const auto acceptor = Acceptor::start(
      listening.get(), [&] { return ++taken, Acceptor::AcceptResult::out_of_resources; },
      {activity.get(), [&] {
         ++looks;
         return Acceptor::Next{Duration(1), std::nullopt};
       }});
  REQUIRE(acceptor);
  CHECK(in_time([&] { return looks > 10; }));
  CHECK(taken < looks);
}

}  // namespace
}  // namespace ibpod::rpc
