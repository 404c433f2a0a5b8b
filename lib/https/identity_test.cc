#include "lib/https/identity.h"

#include <doctest/doctest.h>

namespace ibpod::https {
namespace {

TEST_CASE("an error that quotes a server hides password, token and header") {
  Identity basic;
  basic.authorization.append("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  basic.password.append("open sesame");
  CHECK(basic.redacted("no user Aladdin with open sesame, Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==") ==
        "no user Aladdin with ***, Basic ***");
  Identity token;
  token.authorization.append("Bearer aaa");
  token.password.append("aaa");
  CHECK(token.redacted("aaaaaaa") == "******a");
  CHECK(Identity().redacted("text") == "text");
}

}  // namespace
}  // namespace ibpod::https
