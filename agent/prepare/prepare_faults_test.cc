// Every step of a preparation fails, or is the last one of its process; then it runs again, and the
// node is what it would have been. No VF is ever bound without a GUID, and none twice but one whose
// bind was cut short.
#include "agent/prepare/test_prepare_fixture.h"

#include <functional>
#include <map>

namespace ibpod::agent {
namespace {

using fake::FakeKernel;
using Fault = std::function<void(FakeKernel&)>;

struct Scenario {
  std::string name;
  void (*set)(Bed& bed);
  // More than one only where VFs that could not be removed at first were given their GUIDs all the
  // same: the VF that has the address in the end is another one.
  int most_binds = 1;
};

const Scenario kScenarios[] = {
    {"VFs are made", [](Bed& bed) { bed.config().vfs = 2; }},
    {"VFs are made where others made some before",
     [](Bed& bed) {
       bed.k = fake::node_with(1, 2);
       bed.config().vfs = 3;
       bed.config().force = true;
     },
     2},
    {"VFs lack GUIDs", [](Bed& bed) { bed.make_bare_vfs(2); }},
    {"VFs have other GUIDs",
     [](Bed& bed) {
       bed.k = fake::node_with(1, 2);
       bed.config().force = true;
     }},
    {"autoprobe is off on purpose",
     [](Bed& bed) {
       bed.k.function_state(kPf).autoprobe = false;
       bed.config().vfs = 2;
     }},
    {"autoprobe is off and gives way",
     [](Bed& bed) {
       bed.k.function_state(kPf).autoprobe = false;
       bed.config().vfs = 2;
       bed.config().force = true;
     }},
    {"a VF is without a driver, and one is a virtual machine's",
     [](Bed& bed) {
       bed.make_bare_vfs(3);
       bed.k.unbind(vf(0));
       bed.k.unbind(vf(1));
       bed.k.bind(vf(1), "vfio-pci").value();
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
void check_binds(const Bed& bed, int most, bool killed) {
  std::map<ib::PciAddress, int> binds;
  int more = 0;
  for (const fake::Bound& bound : bed.k.bound) {
    CHECK_FALSE(bound.node_guid.value.none());
    CHECK_FALSE(bound.port_guid.value.none());
    if (++binds[bound.vf] > most) ++more;
  }
  CHECK(more <= (killed ? 1 : 0));
}

std::string undisturbed(const Scenario& scenario) {
  Bed bed;
  scenario.set(bed);
  REQUIRE(bed.problems() == "");
  return bed.essence();
}

// Whether the fault has struck.
bool disturbed(const Scenario& scenario, const Fault& fault, const std::string& want) {
  Bed bed;
  scenario.set(bed);
  bed.k.bound.clear();
  fault(bed.k);
  bool killed = false;
  Preparation first;
  try {
    first = bed.run();
  } catch (const fake::Killed&) {
    killed = true;
  }
  const bool struck = bed.k.struck();
  bed.k.heal();
  if (!struck) CHECK(bed.essence() == want);
  if (!killed && first.problems.empty()) CHECK(bed.essence() == want);
  CHECK(bed.problems() == "");
  CHECK(bed.essence() == want);
  check_binds(bed, scenario.most_binds, killed);
  const int orders = bed.k.orders();
  CHECK(bed.problems() == "");
  CHECK(bed.k.orders() == orders);
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
}  // namespace ibpod::agent
