#include "lib/attach/status.h"

#include "tests/support/attach_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

constexpr Duration kLong{60'000};

TEST_CASE("STATUS is content where an ADD can succeed, and leaves nothing behind") {
  Fixture fixture;
  CHECK(status(fixture.context(), check_isolation(fixture.context()), kLong));
  CHECK(fixture.leftovers() == "");
  CHECK(fixture.ipam_calls().empty());
  fixture.install_ipam("", R"("1.0.0","1.1.0")");
  CHECK(status(fixture.context(), check_isolation(fixture.context()), kLong));
  CHECK(fixture.ipam_calls().size() == 1);
}

TEST_CASE("STATUS fails for what no ADD can survive") {
  Fixture fixture;
  SUBCASE("shared mode, and isolation is asked") {
    fixture.k.state.rdma_mode = nl::RdmaNetnsMode::shared;
    CHECK(status(fixture.context(), ok(), kLong));
    CHECK(status(fixture.context(), check_isolation(fixture.context()), kLong).error().code() ==
          Code::unsupported);
  }
  SUBCASE("no records can be kept") {
    fixture.records = node::Records(fixture.state.write("file", ""));
    CHECK(status(fixture.context(), check_isolation(fixture.context()), kLong)
              .error()
              .text()
              .starts_with("stateDir: no attachment can be recorded: "));
  }
  SUBCASE("IPAM speaks another version") {
    fixture.install_ipam("", R"("0.4.0")");
    CHECK(status(fixture.context(), check_isolation(fixture.context()), kLong).error().text() ==
          "IPAM: ipam lease: it supports 0.4.0, but not the configuration's cniVersion 1.0.0");
  }
  SUBCASE("IPAM is not there") {
    fixture.configure(R"("ipam":{"type":"absent"})");
    CHECK_FALSE(status(fixture.context(), check_isolation(fixture.context()), kLong));
  }
}

}  // namespace
}  // namespace ibpod::attach
