// The netdevs of a function: real links, under a function that a folder claims to be there.
#include "lib/node/listing.h"

#include "tests/netns/host.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::node {
namespace {

const ib::PciAddress kVf = ib::PciAddress::parse("0000:3b:00.1").value();

// A namespace with links "host0" and "host1".
class Fixture {
 public:
  Fixture() {
    add_pair(route);
    std::filesystem::create_directories(net());
  }
  void list(const std::string& name) const { std::filesystem::create_directory(net() / name); }
  void unlist(const std::string& name) const { std::filesystem::remove(net() / name); }
  Result<std::vector<std::string>> names(const Pause& pause) {
    const std::vector<Netdev> netdevs = TRY(list_netdevs(sysfs_, route, kVf, pause));
    return names_of(netdevs);
  }
  Result<std::vector<std::string>> own(const Pause& pause) {
    const std::vector<Netdev> netdevs = TRY(list_own_netdevs(sysfs_, route, kVf, pause));
    return names_of(netdevs);
  }

  netns::NetNs netns = fresh_namespace();
  nl::Socket route = nl::Socket::open_in(netns.fd(), nl::Family::route).value();

 private:
  static std::vector<std::string> names_of(const std::vector<Netdev>& netdevs) {
    std::vector<std::string> names;
    for (const Netdev& netdev : netdevs) names.push_back(netdev.name);
    return names;
  }
  Path net() const { return folder_.path() / "bus/pci/devices" / kVf.text() / "net"; }
  TempFolder folder_;
  sysfs::Sysfs sysfs_ = sysfs::Sysfs::open(folder_.path()).value();
};

Status no_pause() {
  FAIL("paused");
  return ok();
}

TEST_CASE("a function's netdevs are listed at once where nothing changes") {
  Fixture fixture;
  CHECK(fixture.names(no_pause)->empty());
  fixture.list("host1");
  CHECK(fixture.names(no_pause).value() == std::vector<std::string>{"host1"});
}

TEST_CASE("a function's own netdevs are those of its names that have no parent") {
  Fixture fixture;
  CHECK(fixture.own(no_pause)->empty());
  fixture.list("lo");
  fixture.list("host1");  // its parent is the other end, as a child's is its master
  CHECK(fixture.own(no_pause).value() == std::vector<std::string>{"lo"});
}

TEST_CASE("a netdev that has a function's name only as an altname is not its own") {
  Fixture fixture;
  nl::add_altname(fixture.route, link_named(fixture.route, "lo").index, "ibp59s0").value();
  fixture.list("ibp59s0");
  int pauses = 0;
  const auto rename = [&] {
    if (++pauses == 2) fixture.unlist("ibp59s0");
    if (pauses == 2) fixture.list("lo");
    return ok();
  };
  CHECK(fixture.own(rename).value() == std::vector<std::string>{"lo"});
  CHECK(pauses == 2);
}

TEST_CASE("a netdev that is renamed while it is listed is not left out") {
  Fixture fixture;
  fixture.list("host0");
  nl::rename(fixture.route, link_named(fixture.route, "host0").index, "ibp59s0").value();
  int pauses = 0;
  const auto rename = [&] {
    if (++pauses == 2) fixture.unlist("host0");
    if (pauses == 2) fixture.list("ibp59s0");
    return ok();
  };
  CHECK(fixture.names(rename).value() == std::vector<std::string>{"ibp59s0"});
  CHECK(pauses == 2);
}

TEST_CASE("a netdev that goes while it is listed is in no list") {
  Fixture fixture;
  fixture.list("host0");
  fixture.list("host1");
  nl::remove_link(fixture.route, link_named(fixture.route, "host0").index).value();
  const auto go = [&] {
    fixture.unlist("host0");
    fixture.unlist("host1");
    return ok();
  };
  CHECK(fixture.names(go)->empty());
}

TEST_CASE("netdevs that never come to rest are unavailable") {
  Fixture fixture;
  fixture.list("gone0");
  fixture.list("host0");
  CHECK(fixture.names([] { return ok(); }).error().code() == Code::unavailable);
}

}  // namespace
}  // namespace ibpod::node
