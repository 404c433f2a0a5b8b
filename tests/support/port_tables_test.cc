#include "tests/support/port_tables.h"

#include "tests/support/fake_channel.h"
#include "tests/support/fake_subnet.h"

#include <doctest/doctest.h>

namespace ibpod::mad {
namespace {

using namespace std::chrono_literals;
using ib::PKey;

struct Fixture {
  FakeSubnet subnet;
  std::unique_ptr<Scheduler> scheduler;
  // The channel says what is lost, so that no test waits for that or takes a slow machine for it.
  QueryOptions asking{.retry = {.deadline = Deadline::in(60s), .timeout = 60s, .attempts = 3}};

  explicit Fixture(FaultProfile faults = {}) {
    faults.reports_loss = true;
    FakeSubnetNode& own = subnet.add_adapter(3, 40);
    FakeSubnetNode& leaf = subnet.add_switch(1, 4, 64);
    subnet.connect({&own, 1}, {&leaf, 1});
    subnet.connect({&leaf, 2}, {&subnet.add_adapter(2, 128), 1});
    scheduler = std::make_unique<Scheduler>(std::make_unique<FakeChannel>(subnet, faults));
  }
  Outcome<PKeyBlock> write(const BlockWrite& one) {
    return write_blocks(*scheduler, {one}, asking).at(0);
  }
};

PKeyBlock block_with(PKey key) {
  PKeyBlock block{};
  block.at(5) = key;
  return block;
}

TEST_CASE("whole tables are read, each as long as it is") {
  Fixture fixture({.question_lost = 0.1, .duplicated = 0.1, .least = 0ms, .most = 3ms});
  fixture.asking.retry.attempts = 30;
  fixture.subnet.at(1).ports.at(3).pkeys.at(63) = PKey(0x8001);
  fixture.subnet.at(2).ports.at(1).pkeys.at(100) = PKey(0x8002);
  fixture.subnet.at(3).ports.at(1).pkeys.at(39) = PKey(0x8003);
  const auto tables = read_tables(*fixture.scheduler,
                                  {{{*Route::to(1), 3}, 64},
                                   {{*Route::to(2)}, 128},
                                   {{*Route::along({1, 2})}, 128},
                                   {{Route::own()}, 40},
                                   {{*Route::to(1)}, 0}},
                                  fixture.asking);
  CHECK(*value_of(tables.at(0)) == fixture.subnet.at(1).ports.at(3).pkeys);
  CHECK(*value_of(tables.at(1)) == fixture.subnet.at(2).ports.at(1).pkeys);
  CHECK(*value_of(tables.at(2)) == fixture.subnet.at(2).ports.at(1).pkeys);
  CHECK(*value_of(tables.at(3)) == fixture.subnet.at(3).ports.at(1).pkeys);
  CHECK(value_of(tables.at(4))->empty());
}

TEST_CASE("a table of which one block is missing is not there") {
  Fixture fixture;
  const auto tables = read_tables(*fixture.scheduler, {{{*Route::to(2)}, 160}}, fixture.asking);
  CHECK(*failure_of(tables.at(0)) == Failure{Reason::refused, kStatusBadValue});
}

TEST_CASE("what is written is read back") {
  Fixture fixture;
  const auto written = fixture.write({{*Route::to(1), 2}, 1, block_with(PKey(0x8005))});
  CHECK(*value_of(written) == block_with(PKey(0x8005)));
  CHECK(fixture.subnet.at(1).ports.at(2).pkeys.at(37) == PKey(0x8005));
  CHECK(fixture.subnet.at(1).ports.at(2).pkeys.at(0) == ib::kDefaultFull);
}

TEST_CASE("writing needs the M_Key, reading only on the second level of protection") {
  Fixture fixture;
  FakeSubnetNode& node = fixture.subnet.at(2);
  node.m_key = MKey{42};
  const BlockWrite one{{*Route::to(2)}, 0, block_with(PKey(0x8005))};
  CHECK(failure_of(fixture.write(one))->reason == Reason::not_permitted);
  node.protection = 2;
  CHECK(failure_of(fixture.write(one))->reason == Reason::timeout);
  fixture.asking.m_key = MKey{42};
  CHECK(*value_of(fixture.write(one)) == one.keys);
}

TEST_CASE("a write that is refused or unanswered is no write") {
  Fixture fixture;
  CHECK(*failure_of(fixture.write({{*Route::to(2)}, 4, {}})) ==
        Failure{Reason::refused, kStatusBadValue});
  CHECK(failure_of(fixture.write({{*Route::to(9)}, 0, {}}))->reason == Reason::timeout);
}

TEST_CASE("a write whose answers are lost is found by reading") {
  int found = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Fixture fixture({.answer_lost = 0.5, .seed = seed});
    const BlockWrite one{{*Route::to(2)}, 0, block_with(PKey(0x8005))};
    const auto written = fixture.write(one);
    CHECK(fixture.subnet.at(2).ports.at(1).pkeys.at(5) == PKey(0x8005));
    found += value_of(written) != nullptr;
    if (value_of(written)) CHECK(*value_of(written) == one.keys);
    if (failure_of(written)) CHECK(failure_of(written)->reason == Reason::timeout);
  }
  CHECK(found > 5);
}

}  // namespace
}  // namespace ibpod::mad
