#include "tests/support/port_tables.h"

#include "tests/support/fake_channel.h"
#include "tests/support/fake_subnet.h"

#include <doctest/doctest.h>

namespace ibpod::mad {
namespace {

using namespace std::chrono_literals;
using ib::PKey;

struct Bed {
  FakeSubnet subnet;
  std::unique_ptr<Scheduler> scheduler;
  // The channel says what is lost, so that no test waits for that or takes a slow machine for it.
  Asking asking{.terms = {.deadline = Deadline::in(60s), .timeout = 60s, .attempts = 3}};

  explicit Bed(Weather weather = {}) {
    weather.told = true;
    FakeNode& own = subnet.add_adapter(3, 40);
    FakeNode& leaf = subnet.add_switch(1, 4, 64);
    subnet.connect({&own, 1}, {&leaf, 1});
    subnet.connect({&leaf, 2}, {&subnet.add_adapter(2, 128), 1});
    scheduler = std::make_unique<Scheduler>(std::make_unique<FakeChannel>(subnet, weather));
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
  Bed bed({.question_lost = 0.1, .twice = 0.1, .least = 0ms, .most = 3ms});
  bed.asking.terms.attempts = 30;
  bed.subnet.at(1).ports.at(3).pkeys.at(63) = PKey(0x8001);
  bed.subnet.at(2).ports.at(1).pkeys.at(100) = PKey(0x8002);
  bed.subnet.at(3).ports.at(1).pkeys.at(39) = PKey(0x8003);
  const auto tables = read_tables(*bed.scheduler,
                                  {{{*Route::to(1), 3}, 64},
                                   {{*Route::to(2)}, 128},
                                   {{*Route::along({1, 2})}, 128},
                                   {{Route::own()}, 40},
                                   {{*Route::to(1)}, 0}},
                                  bed.asking);
  CHECK(*value_of(tables.at(0)) == bed.subnet.at(1).ports.at(3).pkeys);
  CHECK(*value_of(tables.at(1)) == bed.subnet.at(2).ports.at(1).pkeys);
  CHECK(*value_of(tables.at(2)) == bed.subnet.at(2).ports.at(1).pkeys);
  CHECK(*value_of(tables.at(3)) == bed.subnet.at(3).ports.at(1).pkeys);
  CHECK(value_of(tables.at(4))->empty());
}

TEST_CASE("a table of which one block is missing is not there") {
  Bed bed;
  const auto tables = read_tables(*bed.scheduler, {{{*Route::to(2)}, 160}}, bed.asking);
  CHECK(*failure_of(tables.at(0)) == Failure{Reason::refused, kStatusBadValue});
}

TEST_CASE("what is written is read back") {
  Bed bed;
  const auto written = bed.write({{*Route::to(1), 2}, 1, block_with(PKey(0x8005))});
  CHECK(*value_of(written) == block_with(PKey(0x8005)));
  CHECK(bed.subnet.at(1).ports.at(2).pkeys.at(37) == PKey(0x8005));
  CHECK(bed.subnet.at(1).ports.at(2).pkeys.at(0) == ib::kDefaultFull);
}

TEST_CASE("writing needs the M_Key, reading only on the second level of protection") {
  Bed bed;
  FakeNode& node = bed.subnet.at(2);
  node.m_key = MKey{42};
  const BlockWrite one{{*Route::to(2)}, 0, block_with(PKey(0x8005))};
  CHECK(failure_of(bed.write(one))->reason == Reason::not_permitted);
  node.protection = 2;
  CHECK(failure_of(bed.write(one))->reason == Reason::timeout);
  bed.asking.m_key = MKey{42};
  CHECK(*value_of(bed.write(one)) == one.keys);
}

TEST_CASE("a write that is refused or unanswered is no write") {
  Bed bed;
  CHECK(*failure_of(bed.write({{*Route::to(2)}, 4, {}})) ==
        Failure{Reason::refused, kStatusBadValue});
  CHECK(failure_of(bed.write({{*Route::to(9)}, 0, {}}))->reason == Reason::timeout);
}

TEST_CASE("a write whose answers are lost is found by reading") {
  int found = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Bed bed({.answer_lost = 0.5, .seed = seed});
    const BlockWrite one{{*Route::to(2)}, 0, block_with(PKey(0x8005))};
    const auto written = bed.write(one);
    CHECK(bed.subnet.at(2).ports.at(1).pkeys.at(5) == PKey(0x8005));
    found += value_of(written) != nullptr;
    if (value_of(written)) CHECK(*value_of(written) == one.keys);
    if (failure_of(written)) CHECK(failure_of(written)->reason == Reason::timeout);
  }
  CHECK(found > 5);
}

}  // namespace
}  // namespace ibpod::mad
