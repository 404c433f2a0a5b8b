#include "lib/attach/partition.h"

#include "lib/attach/verbs.h"
#include "lib/cni/errors.h"
#include "tests/support/attach_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

struct Case {
  const char* name;
  ib::PKeyTable table;
  uint16_t key;
  IndexRequirement requirement;
  std::optional<size_t> index;  // nothing: the requirement is not met
  std::string why;              // the text in the error
};

const std::vector<Case> kCases{
    {"full at 0", {ib::PKey(0x8001)}, 0x8001, IndexRequirement::index_0, 0, ""},
    {"limited at 0 will do", {ib::PKey(0x0001)}, 0x0001, IndexRequirement::index_0, 0, ""},
    {"full wanted, limited there",
     {ib::PKey(0x0001)},
     0x8001,
     IndexRequirement::index_0,
     {},
     "does not contain it as full member"},
    {"limited at 0, full elsewhere",
     {ib::PKey(0x0001), ib::PKey(0x8001)},
     0x8001,
     IndexRequirement::index_0,
     1,
     ""},
    {"limited at 0, both there",
     {ib::PKey(0x0001), ib::PKey(0x8001)},
     0x0001,
     IndexRequirement::index_0,
     0,
     ""},
    {"full elsewhere, no address",
     {ib::PKey(0x0001), ib::PKey(0x8001)},
     0x8001,
     IndexRequirement::any_index,
     1,
     ""},
    {"at 2, no address",
     {ib::PKey(0x7fff), ib::PKey(0), ib::PKey(0x8001)},
     0x0001,
     IndexRequirement::any_index,
     2,
     ""},
    {"at 2, with an address",
     {ib::PKey(0x7fff), ib::PKey(0), ib::PKey(0x8001)},
     0x0001,
     IndexRequirement::index_0,
     {},
     "P_Key 0x0001 cannot be used: 0x0001 is at index 2 of the P_Key table, and IPoIB "
     "uses index 0 only; have the subnet manager put it at index 0, or remove ipam from the "
     "network"},
    {"absent",
     {ib::PKey(0x7fff)},
     0x0001,
     IndexRequirement::any_index,
     {},
     "does not contain it; add the GUID to the partition at the subnet manager"},
};

Result<TableEntry> await(Fixture& fixture, const Case& one) {
  fixture.vf_config.spec.pkey.reset();
  REQUIRE(fixture.add());
  fixture.k.fabric.pkeys[kSpecGuids.port] = one.table;
  node::Record record = fixture.records.read({kVf.text(), "c1", "net1"}).value();
  record.spec.pkey = ib::PKey(one.key);
  return await_partition(fixture.context(), record, *record.spec.pkey, one.requirement,
                         Deadline::in(Duration(60'000)));
}

TEST_CASE("a partition is right where the port's table and the interface show it") {
  for (const bool isolation : {true, false}) {
    for (const Case& one : kCases) {
      Fixture fixture(false);
      fixture.vf_config.spec.isolation = isolation;
      CAPTURE(one.name);
      const Result<TableEntry> found = await(fixture, one);
      CHECK(found.ok() == one.index.has_value());
      if (found) CHECK(found->index == one.index);
      if (found) continue;
      CHECK(cni::failure_of(found.error()).code == cni::kTryAgainLater);
      CHECK(found.error().text().find(one.why) != std::string::npos);
      CHECK(found.error().details().find("P_Key table: ") != std::string::npos);
    }
  }
}

TEST_CASE("of a partition of the SM service's at another index the command is named") {
  Fixture fixture(false);
  REQUIRE(fixture.add());
  fixture.k.fabric.pkeys[kSpecGuids.port] = {ib::PKey(0x7fff), ib::PKey(0x0001)};
  node::Record record = fixture.records.read({kVf.text(), "c1", "net1"}).value();
  record.spec.partitions = {{.name = "blue"}};
  const Error error = await_partition(fixture.context(), record, ib::PKey(0x0001),
                                      IndexRequirement::index_0, Deadline::in(Duration(0)))
                          .error();
  CHECK(
      error.text().ends_with("IPoIB uses index 0 only; run `ibpodctl partition update NAME "
                             "--index0`, or remove ipam from the network"));
}

TEST_CASE("a port that is not ACTIVE is not a member yet") {
  Fixture fixture(false);
  fixture.k.fabric.sm = false;
  const Result<TableEntry> found = await(fixture, kCases.front());
  REQUIRE_FALSE(found);
  CHECK(found.error().text().find("the port is INIT, not ACTIVE") != std::string::npos);
  CHECK(found.error().details().starts_with("port state INIT, LID 0"));
}

TEST_CASE("a device that is being renamed is looked for again") {
  Fixture fixture(false);
  fixture.vf_config.spec.pkey.reset();
  REQUIRE(fixture.add());
  fixture.k.fabric.pkeys[kSpecGuids.port] = {ib::PKey(0x8001)};
  node::Record record = fixture.records.read({kVf.text(), "c1", "net1"}).value();
  record.spec.pkey = ib::PKey(0x8001);
  record.netns = node::kHost;  // another namespace than the pod's
  fixture.k.at_next_wait(
      [&](fake::FakeKernel&) { record.netns = *fixture.k.find_namespace(kPod).value(); });
  CHECK(await_partition(fixture.context(), record, *record.spec.pkey, IndexRequirement::index_0,
                        Deadline::in(Duration(60'000))));
}

TEST_CASE("other keys in the table are warned of") {
  Fixture fixture(false);
  const Case open{"",     {ib::PKey(0x8001), ib::PKey(0x8002), ib::kDefaultFull},
                  0x8001, IndexRequirement::index_0,
                  0,      ""};
  REQUIRE(await(fixture, open));
  CHECK(fixture.warnings ==
        std::vector<std::string>{
            "the port is also in another partition: 0x8002 at index 1",
            "the port is also in another partition: 0xffff at index 2, open to every port"});
}

TEST_CASE("the interface comes up again if its full key is not at index 0, and only then") {
  std::vector<int> orders;
  for (const ib::PKeyTable& table :
       {ib::PKeyTable{ib::PKey(0x8001)}, ib::PKeyTable{ib::PKey(0x0001), ib::PKey(0x8001)}}) {
    Fixture fixture;
    fixture.vf_config.spec.pkey = ib::PKey(0x8001);
    fixture.k.fabric.pkeys[kSpecGuids.port] = table;
    REQUIRE(fixture.add());
    orders.push_back(fixture.k.orders());
    CHECK(fixture.check());
    REQUIRE(fixture.del());
    CHECK(fixture.leftovers() == "");
  }
  CHECK(orders[1] == orders[0] + 2);  // two steps between: down and up
}

}  // namespace
}  // namespace ibpod::attach
