// Every step of a preparation fails, or is the last one of its process; then it runs again, and the
// node is what it would have been. No VF is ever bound without a GUID, and none twice but one whose
// bind was cut short.
#include "agent/prepare/test_prepare_fixture.h"

#include <functional>
#include <map>

namespace ibpod::agent::prepare {
namespace {

using fake::FakeKernel;
using Fault = std::function<void(FakeKernel&)>;

struct Scenario {
  std::string name;
  void (*set)(PrepareFixture& bed);
  // More than one only where VFs that could not be removed at first were given their GUIDs all the
  // same: the VF that has the address in the end is another one.
  int most_binds = 1;
};

const Scenario kScenarios[] = {
    {"VFs are made", [](PrepareFixture& fixture) { fixture.config().vfs = 2; }},
    {"VFs are made where others made some before",
     [](PrepareFixture& fixture) {
       fixture.k = fake::node_with(1, 2);
       fixture.config().vfs = 3;
       fixture.config().force = true;
     },
     2},
    {"VFs lack GUIDs", [](PrepareFixture& fixture) { fixture.make_bare_vfs(2); }},
    {"VFs have other GUIDs",
     [](PrepareFixture& fixture) {
       fixture.k = fake::node_with(1, 2);
       fixture.config().force = true;
     }},
    {"VFs have GUIDs that are not of the pool",
     [](PrepareFixture& fixture) {
       fixture.k = fake::node_with(1, 2);
       fixture.config().pool_guids = true;
     }},
    {"VFs are made, and their PF remembers GUIDs that are not of the pool",
     [](PrepareFixture& fixture) {
       fixture.k = fake::node_with(1, 2);
       fixture.k.remove_vfs(kPf);
       fixture.config().vfs = 2;
       fixture.config().pool_guids = true;
     }},
    {"autoprobe is off on purpose",
     [](PrepareFixture& fixture) {
       fixture.k.function_state(kPf).autoprobe = false;
       fixture.config().vfs = 2;
     }},
    {"autoprobe is off and gives way",
     [](PrepareFixture& fixture) {
       fixture.k.function_state(kPf).autoprobe = false;
       fixture.config().vfs = 2;
       fixture.config().force = true;
     }},
    {"a VF is without a driver, and one is a virtual machine's",
     [](PrepareFixture& fixture) {
       fixture.make_bare_vfs(3);
       fixture.k.unbind(vf(0));
       fixture.k.unbind(vf(1));
       fixture.k.bind(vf(1), "vfio-pci").value();
     }},
};

// A question has no effect that could come before or after the failure.
std::vector<Fault> faults(int n, FakeKernel::Count count) {
  using When = FakeKernel::When;
  std::vector<Fault> all{[=](FakeKernel& k) { k.fail_at(n, count); },
                         [=](FakeKernel& k) { k.kill_at(n, When::before_effect, count); }};
  if (count == FakeKernel::Count::calls) return all;
  all.push_back([=](FakeKernel& k) { k.fail_after(n); });
  all.push_back([=](FakeKernel& k) { k.fail_from(n); });
  all.push_back([=](FakeKernel& k) { k.kill_at(n, When::amid_effect); });
  all.push_back([=](FakeKernel& k) { k.kill_at(n, When::after_effect); });
  return all;
}

// One more than these: of the VF that was being bound when its process was killed.
void check_binds(const PrepareFixture& fixture, int most, bool killed) {
  std::map<ib::PciAddress, int> binds;
  int more = 0;
  for (const fake::Bound& bound : fixture.k.bound) {
    CHECK_FALSE(bound.node_guid.value.none());
    CHECK_FALSE(bound.port_guid.value.none());
    if (++binds[bound.vf] > most) ++more;
  }
  CHECK(more <= (killed ? 1 : 0));
}

std::string undisturbed(const Scenario& scenario) {
  PrepareFixture fixture;
  scenario.set(fixture);
  REQUIRE(fixture.problems() == "");
  return fixture.essence();
}

// True if the fault has happened.
bool disturbed(const Scenario& scenario, const Fault& fault, const std::string& want) {
  PrepareFixture fixture;
  scenario.set(fixture);
  fixture.k.bound.clear();
  fault(fixture.k);
  bool killed = false;
  PrepareResult first;
  try {
    first = fixture.run();
  } catch (const fake::Killed&) {
    killed = true;
  }
  const bool struck = fixture.k.struck();
  fixture.k.heal();
  if (!struck) CHECK(fixture.essence() == want);
  if (!killed && first.problems.empty()) CHECK(fixture.essence() == want);
  CHECK(fixture.problems() == "");
  CHECK(fixture.essence() == want);
  check_binds(fixture, scenario.most_binds, killed);
  const int orders = fixture.k.orders();
  CHECK(fixture.problems() == "");
  CHECK(fixture.k.orders() == orders);
  return struck;
}

// Returns how many points there were.
int loop_over(FakeKernel::Count count) {
  int points = 0;
  for (const Scenario& scenario : kScenarios) {
    CAPTURE(scenario.name);
    const std::string want = undisturbed(scenario);
    bool more = true;
    for (int n = 0; more; ++n, ++points) {
      CAPTURE(n);
      more = false;
      for (const Fault& fault : faults(n, count)) more |= disturbed(scenario, fault, want);
    }
  }
  return points;
}

TEST_CASE("whichever order fails or is the last, another preparation comes to the same") {
  CHECK(loop_over(FakeKernel::Count::orders) > 55);
}

TEST_CASE("whichever call fails or is the last, another preparation comes to the same") {
  CHECK(loop_over(FakeKernel::Count::calls) > 340);
}

}  // namespace
}  // namespace ibpod::agent::prepare
