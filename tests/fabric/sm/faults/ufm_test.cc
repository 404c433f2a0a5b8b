// ibpod-sm with a UFM is killed before each of its steps, of which the bytes of its calls to UFM
// are some: a request may be sent and not answered, and an answer read and not noted. After each,
// UFM and the tables have what bindings and partitions say, and nothing else has changed in UFM.
//   STEPS=all, STEPS=N: as in kill_test.cc
#include "tests/fabric/engine/raw_opensm.h"
#include "tests/fabric/sm/faults/changes.h"
#include "tests/fabric/ufm/process/ufm_process.h"

#include <map>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

constexpr ib::PKey kTheirs{0x2000};  // outside of our ranges
constexpr ib::Guid kForeign{0xf0};   // no port of the subnet

struct Ufm {
  RawOpenSm opensm;
  UfmProcess ufm{{.partitions = opensm.partitions(), .opensm = opensm.pid()}};
};

// UFM before ibpod-sm.
struct Fixture : Ufm, StepFixture {
  Fixture() : StepFixture({.hosts = kHosts - 1, .ufm = ufm.section()}) {
    ufm.call(R"({"operation": "post", "pkey": "0x2000", "guids": ["00000000000000f0"]})");
    ufm.clear_log();
  }
};

bool is_ours(ib::PKey pkey) {
  const uint16_t number = pkey.value();
  return (number >= 0x0001 && number <= 0x00ff) || (number >= 0x1000 && number <= 0x10ff);
}

ib::Membership membership_of(fabric::Membership membership) {
  return membership == fabric::Membership::full ? ib::Membership::full : ib::Membership::limited;
}

// The members that UFM has to have, by the bindings and partitions that ibpod-sm shows.
std::map<ib::PKey, UfmProcess::Members> expected(const ServiceView& now) {
  std::map<ib::PKey, UfmProcess::Members> all{{kTheirs, {{kForeign, ib::Membership::full}}}};
  for (const fabric::PartitionStatus& partition : now.partitions)
    for (const fabric::StaticMember& member : partition.spec.members)
      all[ib::PKey(partition.spec.pkey->partition())][member.guid] =
          membership_of(member.membership);
  for (const fabric::Binding& binding : now.bindings)
    for (const fabric::PartitionMembership& one : binding.desired)
      all[ib::PKey(now.find(one.partition)->spec.pkey->partition())][binding.guid] =
          membership_of(one.membership);
  return all;
}

void check_ufm(Fixture& fixture) {
  CHECK(fixture.ufm.members() == expected(read_service(fixture)));
  for (const UfmCall& call : fixture.ufm.log()) {
    INFO(call.caller << " " << call.operation << " " << call.pkey.text() << ": " << call.status);
    CHECK(call.caller == kUfmUser);
    if (call.operation == "post" || call.operation.starts_with("remove_guids"))
      CHECK(is_ours(call.pkey));
    else
      CHECK_FALSE((call.operation == "put" || call.operation == "add_empty" ||
                   call.operation == "delete_partition" || call.operation == "set_qos"));
  }
  fixture.ufm.clear_log();
}

TEST_CASE("killed at any step of a change of UFM, it comes back, and the change is done again") {
  Fixture fixture;
  kill_in_changes(fixture, [&] { check_ufm(fixture); });
}

}  // namespace
}  // namespace ibpod
