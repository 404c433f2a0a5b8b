// The fault loop: every step of ADD and of DEL fails, or is the last one of its process; then DEL,
// or GC alone, and the node is as it was.
#pragma once

#include "lib/attach/gc.h"
#include "tests/support/attach_fixture.h"

#include <functional>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::attach {

using Fault = std::function<void(fake::FakeKernel&)>;
using Setting = std::function<void(Bed&)>;
enum class Afterwards { del, gc };

inline bool clean_up(Bed& bed, Afterwards how) {
  bed.k.heal();
  if (how == Afterwards::del) return bed.del().ok();
  for (auto entry = bed.before.namespaces.begin(); entry != bed.before.namespaces.end();) {
    entry = entry->second.path == kPod ? bed.before.namespaces.erase(entry) : std::next(entry);
  }
  bed.k.kill_namespace(kPod);
  bed.be(cni::Verb::gc, "", "");
  return gc(bed.context(), Deadline::in(Duration(60'000))).ok();
}

// Whether the fault has struck.
inline bool point_of_add(Bed& bed, const Fault& fault, Afterwards how) {
  fault(bed.k);
  try {
    const Result<cni::AddResult> added = bed.add();
    CHECK((added || bed.k.struck()));
  } catch (const fake::Killed&) {
  }
  const bool struck = bed.k.struck();
  CHECK(clean_up(bed, how));
  CHECK(bed.leftovers() == "");
  return struck;
}

inline bool point_of_del(Bed& bed, const Fault& fault, Afterwards how) {
  REQUIRE(bed.add());
  fault(bed.k);
  try {
    const Status deleted = bed.del();
    if (deleted) CHECK(bed.leftovers() == "");
  } catch (const fake::Killed&) {
  }
  const bool struck = bed.k.struck();
  CHECK(clean_up(bed, how));
  CHECK(bed.leftovers() == "");
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

// Returns how many points there were. The caller checks that they are not fewer than it knows of: a
// fault that no longer strikes ends the loop at once.
inline int loop_over(fake::FakeKernel::Count count, bool ipam, const Setting& set) {
  int points = 0;
  for (const auto& point : {&point_of_add, &point_of_del}) {
    bool more = true;
    for (int n = 0; more; ++n) {
      more = false;
      for (const Fault& fault : faults(n, count)) {
        for (const Afterwards how : {Afterwards::del, Afterwards::gc}) {
          CAPTURE(n);
          Bed bed(ipam);
          set(bed);
          more |= point(bed, fault, how);
          ++points;
        }
      }
    }
  }
  return points;
}

}  // namespace ibpod::attach
