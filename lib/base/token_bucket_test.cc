#include "lib/base/token_bucket.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using std::chrono::seconds;

TEST_CASE("a bucket of tokens begins full, fills as time goes by, and never above its burst") {
  const TokenBucket::Time start{seconds(1000)};
  TokenBucket bucket(10, 2);
  CHECK(bucket.full(start));
  bucket.spend(8, start);
  CHECK(bucket.left(start) == 2);
  CHECK(bucket.left(start + seconds(3)) == 8);
  CHECK_FALSE(bucket.full(start + seconds(3)));
  CHECK(bucket.full(start + seconds(4)));
  CHECK(bucket.left(start + seconds(400)) == 10);
}

TEST_CASE("a bucket can be overdrawn, and a clock that goes back takes nothing") {
  const TokenBucket::Time start{seconds(1000)};
  TokenBucket bucket(10, 2);
  bucket.spend(14, start);
  CHECK(bucket.overdrawn());
  CHECK(bucket.left(start) == -4);
  CHECK(bucket.left(start - seconds(5)) == -4);
  bucket.spend(0, start + seconds(2));
  CHECK_FALSE(bucket.overdrawn());
}

TEST_CASE("tokens can be given back, up to the burst, and a debt forgiven") {
  const TokenBucket::Time start{seconds(1000)};
  TokenBucket bucket(10, 2);
  bucket.spend(14, start);
  bucket.refund(1, start);
  CHECK(bucket.left(start) == -3);
  bucket.forgive();
  CHECK(bucket.left(start) == 0);
  bucket.refund(3, start);
  bucket.forgive();
  CHECK(bucket.left(start) == 3);
  bucket.refund(20, start);
  CHECK(bucket.left(start) == 10);
}

}  // namespace
}  // namespace ibpod
