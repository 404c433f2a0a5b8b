#include "sm/bindings/vf_ports.h"

#include "tests/support/registry_fixture.h"

namespace ibpod::sm::bindings {
namespace {

using namespace test;
using engine::VfPort;

struct Vfs : Fixture {
  explicit Vfs(Policy rules = policy())
      : Fixture({make_partition("blue", 0x100, {"*/*"})}, std::move(rules)) {}

  BindRequest of(const std::string& name, ib::Guid guid, ib::Guid behind) const {
    BindRequest made = request(name, "c" + guid.text(), guid, {{"blue", kLimited}});
    made.pf_guid = behind;
    return made;
  }
  std::vector<VfPort> found() const {
    return vf_ports(registry->journal.records(), registry->nodes);
  }
};

TEST_CASE("a VF is listed from its Bind until its binding is gone") {
  Vfs bed;
  CHECK(bed.found().empty());
  const BindRequest first = bed.of("n1", vf(2), pf(1)), second = bed.of("n1", vf(1), pf(1));
  bed.bind(first);
  bed.bind(second);
  bed.bind(child("n1", "c9", pf(1), {{"blue", kLimited}}));
  CHECK(bed.found() == std::vector<VfPort>{{pf(1), vf(1)}, {pf(1), vf(2)}});
  bed.settle();
  CHECK(bed.unbind(first).state == BindingState::releasing);
  CHECK(bed.found().size() == 2);
  bed.start();
  CHECK(bed.found().size() == 2);
  bed.settle();
  CHECK(bed.found() == std::vector<VfPort>{{pf(1), vf(1)}});
}

TEST_CASE("a port that is not known as the PF of the VF's node is none") {
  Policy rules = policy();
  rules.nodes["n3"].pfs.clear();
  Vfs bed(rules);
  SUBCASE("an agent has not told it") { bed.bind(bed.of("n1", vf(1), ib::Guid())); }
  SUBCASE("it is given to another node") { bed.bind(bed.of("n1", vf(1), pf(2))); }
  SUBCASE("it is the VF of another node") { bed.bind(bed.of("n1", vf(1), vf(11))); }
  SUBCASE("it is a port in a partition, such as a storage server's") {
    Partition red = make_partition("red", 0x101);
    red.members = {{storage(1), kFull, "storage"}};
    bed.create(red);
    bed.bind(bed.of("n1", vf(1), storage(1)));
  }
  CHECK(bed.found() == std::vector<VfPort>{{ib::Guid(), vf(1)}});
}

TEST_CASE("a port that two nodes name is none for both, until one of them has no VF behind it") {
  Policy rules = policy();
  for (const char* name : {"n1", "n2"}) rules.nodes[name].pfs.clear();
  Vfs bed(rules);
  const BindRequest first = bed.of("n1", vf(1), pf(9)), second = bed.of("n2", vf(11), pf(9));
  bed.bind(first);
  CHECK(bed.found() == std::vector<VfPort>{{pf(9), vf(1)}});
  bed.bind(second);
  bed.bind(bed.of("n1", vf(2), pf(8)));
  CHECK(bed.found() ==
        std::vector<VfPort>{{ib::Guid(), vf(1)}, {ib::Guid(), vf(11)}, {pf(8), vf(2)}});
  bed.settle();
  bed.unbind(second);
  bed.settle();
  CHECK(bed.found() == std::vector<VfPort>{{pf(8), vf(2)}, {pf(9), vf(1)}});
}

TEST_CASE("a node that names another node's PF does not take it from that node's VFs") {
  for (const std::string liar : {"n2", "dev/n1"}) {
    CAPTURE(liar);
    Policy rules = policy();
    rules.clusters = {"prod", {"dev"}};
    rules.nodes["dev/n1"].guids.insert(vf(101));
    rules.nodes["n1"].pfs = {pf(9)};
    Vfs bed(rules);
    BindRequest lie = bed.of(liar, liar == "n2" ? vf(11) : vf(101), pf(9));
    if (liar != "n2") lie.pod.name_space = "dev/" + lie.pod.name_space;
    bed.bind(bed.of("n1", vf(1), pf(9)));
    bed.bind(lie);
    CHECK(bed.found() == std::vector<VfPort>{{ib::Guid(), lie.guid}, {pf(9), vf(1)}});
  }
}

}  // namespace
}  // namespace ibpod::sm::bindings
