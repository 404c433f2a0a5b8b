// A node with attachments that the first version of ibpod made and recorded in its own files
// (tests/data/first_version): DEL restores everything that the records say.
#include "tests/support/attach_fixture.h"

#include <filesystem>

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

const Path kKept = "tests/data/first_version/node/attachments";

// The node as it was when the files were written: each pod is attached again by the current ADD.
struct OldNode : Fixture {
  OldNode() : Fixture(false) {
    k = fake::node_with(1, 5);
    k.state.namespaces[fake::kHostId].path = kOwn;
    boot_id = "5f2c7f04-9f1e-4c63-8d8a-1f7f2c0a9b1e";
    for (const char* pod : {"isolated", "vfio", "child", "attached", "ending", "keyed"})
      k.make_namespace(netns(pod));
    k.unbind(fake::vf_address(0, 1));
    k.bind(fake::vf_address(0, 1), "vfio-pci").value();
    k.interface("", "ib1").mode = nl::IpoibMode::connected;
    k.interface("", "ib1").umcast = true;
    k.fabric.pkeys[fake::pf_guid(0)] = {ib::kDefaultFull, ib::PKey(0x8001)};
    remember();
    start_without_partitions();
    start_with_partitions();
    std::filesystem::copy(kKept, state.path() / "attachments",
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing);
  }

  void start_without_partitions() {
    vf_config.spec.policy = node::LinkPolicy::automatic;
    vf_config.spec.mtu = 2044;
    start("isolated", 0);
    vf_config.spec = {};
    start("vfio", 1);
    configure_child("ib0").spec.pkey = ib::PKey(0x8001);
    set_call(cni::Verb::add, "child", netns("child"));
    child->spec.ifname = "net1";
    REQUIRE(add());
    child.reset();
  }
  // The DEL of one attachment was killed when it began; that of the other could not remove the key
  // from the port.
  void start_with_partitions() {
    vf_config.spec.partitions = {{"blue", "full"}, {"red"}};
    start("attached", 2);
    vf_config.spec.partitions = {{"", "full", ib::PKey(0x0001)}};
    start("ending", 3);
    vf_config.spec.partitions = {{"blue"}};
    start("keyed", 4);
    binder.stuck = true;
    REQUIRE(end("keyed"));
    binder.stuck = false;
    binder.kill_at = binder.calls;
    CHECK_THROWS_AS((void)end("ending"), fake::Killed);
    binder.kill_at.reset();
  }
  static Path netns(const std::string& pod) { return "/run/netns/" + pod; }
  void start(const std::string& pod, unsigned vf) {
    set_call(cni::Verb::add, pod, netns(pod));
    vf_config.device = fake::vf_address(0, vf);
    const ib::Guid guid(0x0200000000000b00 + vf);
    vf_config.spec.guids = node::Guids{guid, guid};
    const auto added = add();
    REQUIRE_MESSAGE(added.ok(), added.error().text());
  }
  Status end(const std::string& pod) {
    set_call(cni::Verb::del, pod, netns(pod));
    return attach::del(context(), "", Duration(60'000));
  }
};

TEST_CASE("what the first version has attached is given back whole") {
  OldNode fixture;
  REQUIRE(fixture.recorded().size() == 6);
  CHECK(fixture.changes() != "");
  CHECK(fixture.binder.leftovers() != "");
  for (const char* pod : {"isolated", "vfio", "child", "attached", "ending", "keyed"}) {
    CAPTURE(pod);
    const Status ended = fixture.end(pod);
    REQUIRE_MESSAGE(ended.ok(), ended.error().text());
  }
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("no other pod gets a VF that the first version has recorded") {
  OldNode fixture;
  fixture.k.make_namespace("/run/netns/next");
  for (const auto& [pod, vf] : std::map<std::string, unsigned>{{"isolated", 0}, {"attached", 2}}) {
    fixture.set_call(cni::Verb::add, "next", "/run/netns/next");
    fixture.vf_config.device = fake::vf_address(0, vf);
    fixture.timeout = Duration(0);
    CHECK(fixture.add().error().text().find("still belongs to pod tenant/" + pod + "-0") !=
          std::string::npos);
  }
  CHECK(fixture.recorded().size() == 6);
}

}  // namespace
}  // namespace ibpod::attach
