#include "lib/attach/status.h"

#include "tests/support/attach_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

constexpr Duration kLong{60'000};

TEST_CASE("STATUS is content where an ADD can succeed, and leaves nothing behind") {
  Bed bed;
  CHECK(status(bed.context(), check_isolation(bed.context()), kLong));
  CHECK(bed.leftovers() == "");
  CHECK(bed.ipam_calls().empty());
  bed.install_ipam("", R"("1.0.0","1.1.0")");
  CHECK(status(bed.context(), check_isolation(bed.context()), kLong));
  CHECK(bed.ipam_calls().size() == 1);
}

TEST_CASE("STATUS fails for what no ADD can survive") {
  Bed bed;
  SUBCASE("shared mode, and isolation is asked") {
    bed.k.state.rdma_mode = nl::RdmaNetnsMode::shared;
    CHECK(status(bed.context(), ok(), kLong));
    CHECK(status(bed.context(), check_isolation(bed.context()), kLong).error().code() ==
          Code::unsupported);
  }
  SUBCASE("no records can be kept") {
    bed.records = node::Records(bed.state.write("file", ""));
    CHECK(status(bed.context(), check_isolation(bed.context()), kLong)
              .error()
              .text()
              .starts_with("stateDir: no attachment can be recorded: "));
  }
  SUBCASE("IPAM speaks another version") {
    bed.install_ipam("", R"("0.4.0")");
    CHECK(status(bed.context(), check_isolation(bed.context()), kLong).error().text() ==
          "IPAM: ipam lease: it speaks 0.4.0, and not the configuration's cniVersion 1.0.0");
  }
  SUBCASE("IPAM is not there") {
    bed.configure(R"("ipam":{"type":"absent"})");
    CHECK_FALSE(status(bed.context(), check_isolation(bed.context()), kLong));
  }
}

}  // namespace
}  // namespace ibpod::attach
