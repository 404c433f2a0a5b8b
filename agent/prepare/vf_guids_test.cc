#include "agent/prepare/vf_guids.h"

#include "agent/prepare/test_prepare_fixture.h"

namespace ibpod::agent::prepare {
namespace {

using node::Guids;

const Guids kChosen{ib::Guid(0x0011223344556677), ib::Guid(0x0011223344556678)};

struct GuidsFixture : PrepareFixture {
  PrepareDeps deps{k, records, folder.path(), "boot-1", {}};
  GuidsInUse in_use{deps};
  VfGuids guids{deps, kPf, in_use};

  GuidsFixture() { make_bare_vfs(2); }
  VfState state(unsigned number) { return read_vf_state(k, vf(number)).value(); }
  void choose(unsigned number, const Guids& chosen = kChosen) {
    const node::Function function = *k.function(vf(number)).value();
    k.set_vf_guids(function, chosen.node, chosen.port).value();
  }
};

TEST_CASE("a VF without GUIDs gets them once, derived from the PF's") {
  GuidsFixture fixture;
  CHECK(fixture.guids.needs_change(fixture.state(0)).value());
  CHECK(fixture.guids.set(fixture.state(0)).value() == derived(0).port);
  CHECK(fixture.state(0).pf_configured->node_guid == derived(0).node);
  CHECK(fixture.state(0).pf_configured->port_guid == derived(0).port);
  CHECK(fixture.state(0).pf_configured->policy == nl::LinkPolicy::automatic);
  CHECK_FALSE(fixture.guids.set(fixture.state(0)).value());
}

TEST_CASE("the port GUID is that of the pool, and none while the pool is away") {
  GuidsFixture fixture;
  fixture.deps.port_guid = [](const ib::PciAddress& pf, uint32_t number) -> Result<ib::Guid> {
    CHECK(pf == kPf);
    if (number == 1) return Error(Code::unavailable, "no answer");
    return kChosen.port;
  };
  CHECK(fixture.guids.desired(fixture.state(0)).value() == Guids{derived(0).node, kChosen.port});
  CHECK(fixture.guids.set(fixture.state(1)).error().code() == Code::unavailable);
  CHECK(fixture.state(1).pf_configured->port_guid.none());
}

TEST_CASE("GUIDs that an administrator has chosen stay, unless they are to be replaced") {
  GuidsFixture fixture;
  fixture.choose(0);
  CHECK(fixture.guids.desired(fixture.state(0)).value() == kChosen);
  CHECK_FALSE(fixture.guids.set(fixture.state(0)).value());
  fixture.guids.set_rules({.force = true});
  CHECK(fixture.guids.needs_change(fixture.state(0)).value());
  CHECK(fixture.guids.set(fixture.state(0)).value() == derived(0).port);
}

TEST_CASE("no two functions get the same GUID") {
  GuidsFixture fixture;
  fixture.choose(1, derived(0));
  CHECK(fixture.guids.desired(fixture.state(0)).error().code() == Code::exists);
  CHECK(fixture.guids.set(fixture.state(0)).error().code() == Code::exists);
  CHECK(fixture.state(0).pf_configured->port_guid.none());
}

}  // namespace
}  // namespace ibpod::agent::prepare
