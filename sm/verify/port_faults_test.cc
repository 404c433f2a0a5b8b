#include "sm/verify/port_faults.h"

#include <doctest/doctest.h>

namespace ibpod::sm::verify {
namespace {

using Kind = engine::PortFault::Kind;

constexpr ib::Guid kA{0xa}, kB{0xb};

TEST_CASE("a port has the faults of the last list, and only their changes are reported") {
  PortFaults faults;
  CHECK(faults.set({}).empty());
  CHECK(faults.set({{kA, Kind::not_added, "refused"}, {kB, Kind::not_removed, "ignored"}}) ==
        std::set{kA, kB});
  CHECK(faults.not_added(kA));
  CHECK_FALSE(faults.not_removed(kA));
  CHECK(faults.not_removed(kB));
  CHECK(faults.text(kA) == "refused");
  CHECK(faults.set({{kA, Kind::not_added, "refused"}, {kB, Kind::not_added, "ignored"}}) ==
        std::set{kB});
  CHECK_FALSE(faults.not_removed(kB));
  CHECK(faults.set({{kA, Kind::not_added, "refused"}}) == std::set{kB});
  CHECK_FALSE(faults.not_added(kB));
  CHECK_FALSE(faults.text(kB));
  CHECK(faults.set({{kA, Kind::not_added, "ignored"}}) == std::set{kA});
  CHECK(faults.set({}) == std::set{kA});
}

TEST_CASE("several faults of one port have one text") {
  PortFaults faults;
  faults.set({{kA, Kind::not_added, "one"}, {kA, Kind::not_removed, "two"}});
  CHECK(faults.not_added(kA));
  CHECK(faults.not_removed(kA));
  CHECK(faults.text(kA) == "one; two");
}

TEST_CASE("a table with a key of a partition that is not in place at all has its fault") {
  const auto with = [](std::vector<ib::PKey> keys) {
    return DesiredTable{.keys = std::move(keys), .index0 = {}};
  };
  PortFaults faults;
  CHECK_FALSE(faults.set_partitions({}));
  CHECK(faults.set_partitions({{ib::PKey(1), "one"}, {ib::PKey(2), "two"}}));
  CHECK_FALSE(faults.set_partitions({{ib::PKey(1), "one"}, {ib::PKey(2), "two"}}));
  CHECK(faults.partition_fault(with({ib::PKey(0x8002), ib::kDefaultFull})) == "two");
  CHECK(faults.partition_fault(with({ib::PKey(1), ib::PKey(0x8001)})) == "one");
  CHECK_FALSE(faults.partition_fault(with({ib::PKey(3), ib::kDefaultFull})));
  CHECK_FALSE(faults.partition_fault(with({})));
  CHECK(faults.set_partitions({{ib::PKey(1), "other"}}));
  CHECK_FALSE(faults.partition_fault(with({ib::PKey(2)})));
  CHECK(faults.partition_fault(with({ib::PKey(1)})) == "other");
}

TEST_CASE("the condition of a port with a fault names the fault first") {
  using fabric::Condition;
  using fabric::Reason;
  PortFaults faults;
  CHECK(faults.add_to(kA, {Reason::waiting, "soon"}) == Condition{Reason::waiting, "soon"});
  faults.set({{kA, Kind::not_added, "refused"}});
  CHECK(faults.add_to(kA, {Reason::waiting, ""}) == Condition{Reason::misconfigured, "refused"});
  CHECK(faults.add_to(kA, {Reason::timeout, "silent"}) ==
        Condition{Reason::timeout, "refused; silent"});
  CHECK(faults.add_to(kB, {Reason::waiting, ""}) == Condition{Reason::waiting, ""});
}

}  // namespace
}  // namespace ibpod::sm::verify
