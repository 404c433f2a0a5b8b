// The fault loop: each step of ADD and DEL fails, or is the last one of its process; after a DEL,
// or GC alone, the node is as it was.
#pragma once

#include "lib/attach/verbs.h"
#include "tests/support/attach_fixture.h"

#include <functional>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::attach {

using Fault = std::function<void(fake::FakeKernel&)>;
using Setting = std::function<void(Fixture&)>;
enum class Afterwards { del, gc };

// A VF with GUIDs, a P_Key, an MTU and a policy. `reappears`: when its interface comes up.
inline void prepare_vf(Fixture& fixture, fake::IpoibReappears reappears, bool isolation) {
  fixture.k.ipoib_reappears = reappears;
  fixture.k.renames_while_up = reappears == fake::IpoibReappears::in_target;
  fixture.vf_config.spec.isolation = isolation;
  fixture.vf_config.spec.mtu = 1500;
  fixture.vf_config.spec.policy = node::LinkPolicy::enable;
  fixture.k.fabric.pkeys[kSpecGuids.port] = {ib::PKey(0x8001)};
  fixture.vf_config.spec.pkey = ib::PKey(0x8001);
}

inline bool clean_up(Fixture& fixture, Afterwards how) {
  fixture.k.heal();
  if (how == Afterwards::del) return fixture.del().ok();
  for (auto entry = fixture.before.namespaces.begin(); entry != fixture.before.namespaces.end();) {
    entry = entry->second.path == kPod ? fixture.before.namespaces.erase(entry) : std::next(entry);
  }
  fixture.k.kill_namespace(kPod);
  fixture.set_call(cni::Verb::gc, "", "");
  return fixture.gc().ok();
}

// True if the fault occurred.
inline bool point_of_add(Fixture& fixture, const Fault& fault, Afterwards how) {
  fault(fixture.k);
  try {
    const Result<cni::AddResult> added = fixture.add();
    CHECK((added || fixture.k.struck()));
  } catch (const fake::Killed&) {
  }
  const bool struck = fixture.k.struck();
  CHECK(clean_up(fixture, how));
  CHECK(fixture.leftovers() == "");
  return struck;
}

inline bool point_of_del(Fixture& fixture, const Fault& fault, Afterwards how) {
  REQUIRE(fixture.add());
  fault(fixture.k);
  try {
    const Status deleted = fixture.del();
    if (deleted) CHECK(fixture.leftovers() == "");
  } catch (const fake::Killed&) {
  }
  const bool struck = fixture.k.struck();
  CHECK(clean_up(fixture, how));
  CHECK(fixture.leftovers() == "");
  return struck;
}

inline std::vector<Fault> faults(int n, fake::FakeKernel::Count count) {
  using fake::FakeKernel;
  using When = FakeKernel::When;
  return {[=](FakeKernel& k) { k.fail_at(n, count); },
          [=](FakeKernel& k) { k.fail_after(n, count); },
          [=](FakeKernel& k) { k.fail_from(n, count); },
          [=](FakeKernel& k) { k.kill_at(n, When::before_effect, count); },
          [=](FakeKernel& k) { k.kill_at(n, When::amid_effect, count); },
          [=](FakeKernel& k) { k.kill_at(n, When::after_effect, count); }};
}

// Returns the number of points. The caller checks a minimum: a fault that no longer occurs ends the
// loop at once.
inline int loop_over(fake::FakeKernel::Count count, bool ipam, const Setting& set) {
  int points = 0;
  for (const auto& point : {&point_of_add, &point_of_del}) {
    bool more = true;
    for (int n = 0; more; ++n) {
      more = false;
      for (const Fault& fault : faults(n, count)) {
        for (const Afterwards how : {Afterwards::del, Afterwards::gc}) {
          CAPTURE(n);
          Fixture fixture(ipam);
          set(fixture);
          more |= point(fixture, fault, how);
          ++points;
        }
      }
    }
  }
  return points;
}

}  // namespace ibpod::attach
