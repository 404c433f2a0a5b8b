#include "lib/mad/pkey_tables.h"

#include <doctest/doctest.h>

namespace ibpod::mad {
namespace {

using ib::PKey;

const PortAddress kPort{*Route::to(1), 3};

TEST_CASE("a table is asked for block by block") {
  const auto requests = table_requests({kPort, 40}, {.m_key = MKey{42}});
  REQUIRE(requests.size() == 2);
  for (uint16_t block = 0; block < 2; ++block) {
    CHECK(requests[block].route == kPort.route);
    CHECK(requests[block].smp == SmpRequest{.attribute = Attribute::pkey_table,
                                            .modifier = pkey_modifier(3, block),
                                            .m_key = MKey{42}});
  }
  CHECK(table_requests({kPort, 0}, {}).empty());
}

TEST_CASE("a Set carries the block that is to stand there, a Get nothing") {
  PKeyBlock block{};
  block.at(5) = PKey(0x8005);
  CHECK(block_request(Method::set, kPort, 1, block, {}).smp.data == encode(block));
  CHECK(block_request(Method::get, kPort, 1, block, {}).smp.data == Data{});
}

TEST_CASE("a table is as long as it has places, and there whole or not at all") {
  PKeyBlock block{};
  block.at(7) = PKey(0x8001);
  const std::vector<Outcome<Data>> blocks{encode(PKeyBlock{}), encode(block)};
  ib::PKeyTable table(40);
  table.at(39) = PKey(0x8001);
  CHECK(*value_of(table_of(blocks, 40)) == table);
  CHECK(value_of(table_of({}, 0))->empty());
  const Failure lost{Reason::timeout, 0};
  CHECK(*failure_of(table_of(std::vector<Outcome<Data>>{blocks[0], lost}, 40)) == lost);
}

}  // namespace
}  // namespace ibpod::mad
