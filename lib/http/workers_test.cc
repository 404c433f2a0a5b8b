#include "lib/http/workers.h"

#include <semaphore>
#include <string>

#include <doctest/doctest.h>

namespace ibpod::http {
namespace {

TEST_CASE("workers: what is urgent is done before what came first") {
  std::binary_semaphore begun{0}, go_on{0}, done{0};
  std::string order;
  Workers workers(1);
  workers.add(
      [&] {
        begun.release();
        go_on.acquire();
      },
      Workers::Priority::last);
  begun.acquire();
  for (const char which : {'a', 'b'})
    workers.add([&, which] { order += which; }, Workers::Priority::last);
  for (const char which : {'1', '2'})
    workers.add([&, which] { order += which; }, Workers::Priority::first);
  workers.add([&] { done.release(); }, Workers::Priority::last);
  go_on.release();
  done.acquire();
  CHECK(order == "12ab");
}

}  // namespace
}  // namespace ibpod::http
