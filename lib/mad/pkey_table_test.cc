#include "lib/mad/pkey_table.h"

#include "lib/mad/test_answers.h"

#include <doctest/doctest.h>

namespace ibpod::mad {
namespace {

using ib::PKey;

TEST_CASE("a block is 32 keys in the byte order of the wire") {
  PKeyBlock block{};
  block.front() = PKey(0xffff);
  block.at(1) = PKey(0x8001);
  block.back() = PKey(0x0002);
  const Data data = encode(block);
  CHECK(std::to_integer<int>(data.at(2)) == 0x80);
  CHECK(std::to_integer<int>(data.at(3)) == 0x01);
  CHECK(std::to_integer<int>(data.at(63)) == 0x02);
  CHECK(*parse_pkey_block(data) == block);
}

TEST_CASE("a table as another program reads it, and beyond its end") {
  const auto block = parse_pkey_block(recorded_answer("pkeys-adapter").data);
  CHECK(block->at(0) == PKey(0x7fff));
  CHECK(block->at(1) == PKey(0x8001));
  CHECK(block->at(2) == PKey());
  CHECK(recorded_answer("pkeys-refused").status == kStatusBadValue);
}

TEST_CASE("a block's modifier names the port of a switch above the block") {
  CHECK(pkey_modifier(0, 3) == 3);
  CHECK(pkey_modifier(36, 1) == 0x00240001);
}

TEST_CASE("tables of all lengths are cut into blocks") {
  CHECK(blocks_of(0) == 0);
  CHECK(blocks_of(1) == 1);
  CHECK(blocks_of(32) == 1);
  CHECK(blocks_of(33) == 2);
  CHECK(blocks_of(65535) == 2048);
  ib::PKeyTable table(40, PKey(0x8001));
  CHECK(block_of(table, 1).at(7) == PKey(0x8001));
  CHECK(block_of(table, 1).at(8) == PKey());
  CHECK(block_of(table, 2) == PKeyBlock{});
}

TEST_CASE("the blocks that differ") {
  const ib::PKeyTable from(128, PKey(0x8001));
  ib::PKeyTable to = from;
  CHECK(different_blocks(from, to).empty());
  to.at(0) = PKey();
  to.at(127) = PKey(0x0001);
  CHECK(different_blocks(from, to) == std::vector<uint16_t>{0, 3});
  CHECK(different_blocks({}, ib::PKeyTable(64)).empty());
  CHECK(different_blocks(from, {}).size() == 4);
}

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
