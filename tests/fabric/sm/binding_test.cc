// Bindings: what is acknowledged is so at the port, from then on and no longer.
#include "tests/fabric/engine/reader.h"
#include "tests/fabric/sm/sm_fixture.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

TEST_CASE("a key is there when a Bind is answered, and gone when an Unbind is") {
  SmFixture fixture;
  fixture.create_partition("blue");
  Reader reader(fixture.subnet);
  for (int round = 0; round < 10; ++round) {
    CAPTURE(round);
    const unsigned host = 1 + static_cast<unsigned>(round) % 5;
    reader.unsure(host);
    CHECK(fixture.bind(host, "blue") == "verified");
    reader.expect(host, ib::PKey(0x8001), true);
    CHECK(fixture.bind(host, "blue") == "verified");
    reader.unsure(host);
    CHECK(fixture.unbind(host) == "released");
    reader.expect(host, ib::PKey(0x8001), false);
  }
  const Reader::Sum sum = reader.end();
  CHECK(sum.wrong == 0);
  CHECK(sum.judged > 100);
}

TEST_CASE("one port goes from one tenant to nobody to the next, and no key is left behind") {
  SmFixture fixture;
  fabric::Partition blue = fixture.sample_partition("blue"), red = fixture.sample_partition("red");
  blue.index0 = red.index0 = true;
  fixture.create_partition(blue);
  fixture.create_partition(red);
  const auto show = [&](const char* when) {
    MESSAGE(std::string(when), ": ", ib::text(fixture.table(1)));
    return fixture.table(1);
  };
  show("free");
  CHECK(fixture.bind(1, "blue") == "verified");
  CHECK(show("blue").at(0) == ib::PKey(0x8001));
  CHECK(fixture.unbind(1) == "released");
  CHECK_FALSE(ib::find_in(show("free"), ib::PKey(0x0001)));
  CHECK(fixture.bind(1, "red", "c2") == "verified");
  const ib::PKeyTable last = show("red");
  CHECK(last.at(0) == ib::PKey(0x8002));
  CHECK_FALSE(ib::find_in(last, ib::PKey(0x0001)));
  auto both = fixture.request(2, "blue", "c3");
  both.partitions.push_back({"red", {}});
  const auto refused = fixture.client().bind(both, SmFixture::deadline_in());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text().find("index 0") != std::string::npos);
}

TEST_CASE("a port at which seventy tenants have had index 0 is still in the default partition") {
  SmFixture fixture;
  for (const char* const name : {"blue", "red"}) {
    fabric::Partition partition = fixture.sample_partition(name);
    partition.index0 = true;
    fixture.create_partition(partition);
  }
  for (int round = 0; round < 70; ++round) {
    CAPTURE(round);
    REQUIRE(fixture.bind(1, round % 2 == 0 ? "blue" : "red") == "verified");
    REQUIRE(fixture.unbind(1) == "released");
  }
  CHECK(keys_in(fixture.table(1)) == std::vector{ib::PKey(0x7fff)});
}

TEST_CASE("one key more than the table holds is refused as such") {
  SmFixture fixture;
  fabricapi::BindRequest many = SmFixture::request(1, "p1");
  many.partitions.clear();
  for (int n = 1; n <= 64; ++n) {
    fixture.create_partition("p" + std::to_string(n));
    if (n < 64) many.partitions.push_back({"p" + std::to_string(n), {}});
  }
  const auto most = fixture.client().bind(many, SmFixture::deadline_in());
  REQUIRE_MESSAGE(most, most.error().text());
  CHECK(most->state == fabric::BindingState::verified);
  auto more = many;
  more.partitions.push_back({"p64", {}});
  const auto refused = fixture.client().bind(more, SmFixture::deadline_in());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::busy);
  CHECK(refused.error().text().find("capacity: the P_Key table of port") != std::string::npos);
  CHECK(refused.error().text().find("it has 64 entries") != std::string::npos);
  CHECK(fixture.bind(1, "p1") == "verified");
}

TEST_CASE("two pods on one PF share its key: it stays with the second, and goes with him") {
  SmFixture fixture;
  fixture.create_partition("blue");
  for (const char* const container : {"c1", "c2"}) {
    fabricapi::BindRequest child = fixture.request(1, "blue", container);
    child.kind = fabric::Kind::child;
    const auto bound = fixture.client().bind(child, SmFixture::deadline_in());
    REQUIRE_MESSAGE(bound, bound.error().text());
    CHECK(bound->state == fabric::BindingState::verified);
    CHECK(keys_in(fixture.table(1)) == std::vector{ib::PKey(0x7fff), ib::PKey(0x8001)});
  }
  CHECK(fixture.unbind(1, "c1") == "released");
  CHECK(ib::find_in(fixture.table(1), ib::PKey(0x8001)));
  CHECK(fixture.unbind(1, "c2") == "released");
  CHECK_FALSE(ib::find_in(fixture.table(1), ib::PKey(0x0001)));
}

TEST_CASE("what changes breaks before it makes") {
  SmFixture fixture;
  fixture.create_partition("blue");
  fixture.create_partition("red");
  CHECK(fixture.bind(1, "blue") == "verified");
  CHECK(fixture.bind(1, "red") == "verified");
  CHECK_FALSE(ib::find_in(fixture.table(1), ib::PKey(0x0001)));
  CHECK(ib::find_in(fixture.table(1), ib::PKey(0x8002)));
}

}  // namespace
}  // namespace ibpod
