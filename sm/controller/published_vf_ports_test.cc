// The VFs and PFs that a subnet manager is given, and when.
#include "sm/controller/test_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::sm::controller::test {
namespace {

using engine::VfPort;

const fabric::Attachment kC1{"n1", "c1", "net1"};

struct Vfs : Fixture {
  Vfs() {
    engine.confines_vfs = true;
    partition("blue");
    settle();
  }
  std::vector<VfPort> last_given() const { return engine.vf_ports.back(); }
};

TEST_CASE_FIXTURE(Vfs, "a VF is given with its binding, and taken back after the binding's end") {
  REQUIRE(engine.vf_ports.size() == 1);
  CHECK_MESSAGE(last_given().empty(), "so that what an earlier process has left can go");
  bind(kNode1, request(kVf1, "blue"));
  CHECK(last_given() == std::vector<VfPort>{{kPf, kVf1}});
  settle();
  unbind(kNode1, kC1);
  place();
  CHECK(binding(kC1).state == fabric::BindingState::releasing);
  CHECK(last_given().size() == 1);
  settle();
  CHECK(last_given().empty());
  CHECK_MESSAGE(engine.vf_ports.size() == 3, "only what has changed");
}

TEST_CASE_FIXTURE(Vfs, "a Bind that is not on disk is not given") {
  store.fail_at(0, FakeStore::Failure::full);
  bind(kNode1, request(kVf1, "blue"));
  CHECK(last_given().empty());
  store.fail_no_more();
  bind(kNode1, request(kVf1, "blue"));
  CHECK(last_given().size() == 1);
}

TEST_CASE_FIXTURE(Vfs, "a new process gives all of them at once") {
  bind(kNode1, request(kVf1, "blue"));
  bind(kNode2, request(kVf3, "blue", "c2", "n2"));
  engine.vf_ports.clear();
  restart();
  REQUIRE(engine.vf_ports.size() == 1);
  // Both name the same PF.
  CHECK(last_given() == std::vector<VfPort>{{ib::Guid(), kVf1}, {ib::Guid(), kVf3}});
}

TEST_CASE_FIXTURE(Fixture, "a subnet manager that cannot confine VFs is not asked to") {
  partition("blue");
  bind(kNode1, request(kVf1, "blue"));
  CHECK(engine.vf_ports.empty());
}

}  // namespace
}  // namespace ibpod::sm::controller::test
