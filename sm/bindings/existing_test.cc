// Existing state of nodes and of the subnet is accepted, even if ibpod would not create it.
#include "tests/support/registry_fixture.h"

namespace ibpod::sm::bindings {
namespace {

using namespace test;

// A GUID as the SR-IOV operator draws it: about every second one is a group address.
constexpr ib::Guid kOdd{0x59cabb009792745f}, kOddStorage{0x59cabb0097927460};

TEST_CASE("a port is bound by the GUID that it has, and is a member, also after a start") {
  Policy rules = policy();
  rules.nodes["n1"].guids.insert(kOdd);
  Partition blue = make_partition("blue", 0x100);
  blue.members = {{kOddStorage, kFull, "storage"}};
  Fixture bed({blue}, rules);
  BindRequest asked = request("n1", "a", kOdd, {{"blue", kLimited}});
  asked.attachment.interface = "netz-ü";
  asked.pf = "größe0";
  bed.bind(asked);
  bed.start();
  REQUIRE(bed.binding(asked));
  CHECK(bed.binding(asked)->guid == kOdd);
  CHECK(bed.registry->partitions.view().find("blue")->spec.members.front().guid == kOddStorage);
  bed.unbind(asked);
}

TEST_CASE("a former member is waited for by the GUID that it has, also after a start") {
  Partition blue = make_partition("blue", 0x100);
  blue.members = {{kOddStorage, kFull, "storage"}};
  Fixture bed({blue});
  REQUIRE(bed.registry->partitions.remove("blue"));
  bed.commit();
  bed.start();
  const auto waits = bed.registry->partitions.view().find("blue");
  REQUIRE(waits);
  CHECK(waits->state == fabric::PartitionState::deleting);
}

TEST_CASE("a node's GUIDs are such as a port can have") {
  Policy rules = policy();
  rules.nodes["n1"].guids.insert(kOdd);
  CHECK(check(rules));
  rules.nodes["n1"].guids.insert(ib::kNoGuid);
  CHECK_FALSE(check(rules));
}

}  // namespace
}  // namespace ibpod::sm::bindings
