#include "lib/attach/ipam.h"
#include "lib/attach/release.h"
#include "lib/attach/verbs.h"
#include "lib/cni/errors.h"
#include "tests/support/attach_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

constexpr Duration kLong{60'000};
const Path kOther = "/run/netns/other";

Status del_as(Fixture& fixture, const std::string& container, const Path& netns) {
  fixture.set_call(cni::Verb::del, container, netns);
  return del(fixture.context(), kVf.text(), kLong);
}

void forget_pod(Fixture& fixture) {
  std::erase_if(fixture.before.namespaces,
                [](const auto& entry) { return entry.second.path == kPod; });
}

node::Record only_record(const Fixture& fixture) {
  return fixture.records.read(fixture.records.all().value().at(0)).value();
}

TEST_CASE("DEL works twice, and without a namespace") {
  for (const Path& netns : {kPod, Path()}) {
    Fixture fixture;
    REQUIRE(fixture.add());
    REQUIRE(del_as(fixture, "c1", netns));
    CHECK(fixture.leftovers() == "");
    CHECK(del_as(fixture, "c1", netns));
    CHECK(fixture.leftovers() == "");
  }
}

TEST_CASE("DEL works after the namespace has died, and after a reboot") {
  Fixture fixture;
  REQUIRE(fixture.add());
  forget_pod(fixture);
  fixture.k.kill_namespace(kPod);
  SUBCASE("the path is told") { REQUIRE(del_as(fixture, "c1", kPod)); }
  SUBCASE("it is not") { REQUIRE(del_as(fixture, "c1", "")); }
  SUBCASE("another boot") {
    fixture.boot_id = "next";
    REQUIRE(del_as(fixture, "c1", kPod));
  }
  CHECK(fixture.leftovers() == "");
}

// Seen on a node: after the boot the VFs had no GUIDs, no call could restore the recorded ones, and
// the VFs stayed out of service.
TEST_CASE("DEL after a power cut leaves the VF as this boot has made it") {
  Fixture fixture;
  SUBCASE("a GUID was asked for") {}
  SUBCASE("none was") { fixture.vf_config.spec.guids.reset(); }
  REQUIRE(fixture.add());
  fixture.k.lose_power();
  fixture.boot_id = "next";
  SUBCASE("no VFs have been made yet") {}
  SUBCASE("without a GUID") { fixture.k.make_vfs(fake::pf_address(0), 2); }
  SUBCASE("without a driver") {
    fixture.k.function_state(fake::pf_address(0)).autoprobe = false;
    fixture.k.make_vfs(fake::pf_address(0), 2);
  }
  SUBCASE("with another GUID, as an agent gives it") {
    fixture.k.make_vfs(fake::pf_address(0), 2);
    fixture.k.unbind(kVf);
    fake::PciFunction& function = fixture.k.function_state(kVf);
    function.node_guid.value = function.port_guid.value = ib::Guid(0x0200000000000b01);
    REQUIRE(fixture.k.bind(kVf, "mlx5_core"));
  }
  fixture.remember();
  REQUIRE(del_as(fixture, "c1", ""));
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("the device is found by the record, not by what the call says of it") {
  Fixture fixture;
  REQUIRE(fixture.add());
  fixture.set_call(cni::Verb::del, "c1", kPod);
  SUBCASE("another device") {
    REQUIRE(del(fixture.context(), fake::vf_address(0, 1).text(), kLong));
  }
  SUBCASE("none") { REQUIRE(del(fixture.context(), "", kLong)); }
  SUBCASE("a configuration without IPAM") {
    fixture.configure(R"("dns":{})");
    REQUIRE(del(fixture.context(), kVf.text(), kLong));
  }
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("a DEL with no ADD before it changes nothing") {
  Fixture fixture;
  CHECK(del_as(fixture, "c7", kPod));
  CHECK(del_as(fixture, "c7", ""));
  CHECK(del_as(fixture, "c7", "/run/netns/gone"));
  CHECK(del_as(fixture, "c7", kOwn));
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("the late DEL of an old container touches nothing of the new owner") {
  Fixture fixture;
  REQUIRE(fixture.add());
  REQUIRE(del_as(fixture, "c1", kPod));
  fixture.k.make_namespace(kOther);
  fixture.set_call(cni::Verb::add, "c2", kOther);
  REQUIRE(fixture.add());
  const fake::State given = fixture.k.state;
  CHECK(del_as(fixture, "c1", kPod));
  CHECK(del_as(fixture, "c1", ""));
  // Even a DEL with the new owner's namespace.
  CHECK(del_as(fixture, "c1", kOther));
  CHECK(fake::diff(given, fixture.k.state) == "");
  CHECK(fixture.recorded() == std::vector<std::string>{"0000:3b:00.1/c2:net1"});
  CHECK(fixture.leases() == std::vector<std::string>{"lease-c2:net1"});
}

TEST_CASE("a DEL that means one attempt touches nothing of another one") {
  Fixture fixture;
  REQUIRE(fixture.add());
  const fake::State given = fixture.k.state;
  fixture.set_call(cni::Verb::del, "c1", "");
  fixture.call.environment[std::string(kOnlyAttempt)] = "of before";
  CHECK(del(fixture.context(), kVf.text(), kLong));
  CHECK(fake::diff(given, fixture.k.state) == "");
  CHECK(fixture.leases().size() == 1);
  fixture.call.environment[std::string(kOnlyAttempt)] = only_record(fixture).attempt;
  CHECK(del(fixture.context(), kVf.text(), kLong));
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("without a record, only what is in this call's namespace comes home") {
  Fixture fixture(false);
  fixture.vf_config.spec.guids.reset();
  fixture.k.make_namespace(kOther);
  REQUIRE(fixture.add());
  std::filesystem::remove(fixture.record_file());
  const fake::State given = fixture.k.state;
  CHECK(del_as(fixture, "c1", kOther));
  CHECK(fake::diff(given, fixture.k.state) == "");
  CHECK(del_as(fixture, "c1", kPod));
  CHECK(fixture.k.netdevs(node::kHost, kVf).value().size() == 1);
  CHECK(fixture.k.rdma_devices(node::kHost, kVf).value().size() == 1);
}

TEST_CASE("a damaged record: DEL fetches the device, gives the lease back, and leaves the record") {
  Fixture fixture;
  REQUIRE(fixture.add());
  REQUIRE(write_file_atomically(fixture.record_file(), "{"));
  CHECK(del_as(fixture, "c1", kPod));
  CHECK(fixture.recorded().size() == 1);
  CHECK(fixture.leases().empty());
  CHECK(fixture.k.netdevs(node::kHost, kVf).value().size() == 1);
  CHECK(fixture.warnings.size() == 1);
  CHECK(del_as(fixture, "c1", ""));
  CHECK(fixture.recorded().size() == 1);
}

TEST_CASE("a damaged record says by its place which device DEL has to fetch") {
  Fixture fixture;
  REQUIRE(fixture.add());
  REQUIRE(write_file_atomically(fixture.record_file(), "{"));
  fixture.set_call(cni::Verb::del, "c1", kPod);
  SUBCASE("the call names another") {
    CHECK(del(fixture.context(), fake::vf_address(0, 1).text(), kLong));
  }
  SUBCASE("the call names none") { CHECK(del(fixture.context(), "", kLong)); }
  CHECK(fixture.k.netdevs(node::kHost, kVf).value().size() == 1);
  CHECK(fixture.recorded().size() == 1);
}

TEST_CASE("a record of a newer version is no damage: it stays, and so does all it speaks of") {
  Fixture fixture;
  REQUIRE(fixture.add());
  std::string text = read_file(fixture.record_file()).value();
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 9");
  REQUIRE(write_file_atomically(fixture.record_file(), text));
  const fake::State given = fixture.k.state;
  const Error error = del_as(fixture, "c1", kPod).error();
  CHECK(error.code() == Code::unsupported);
  CHECK(error.text().find("run the newer ibpod that wrote it") != std::string::npos);
  CHECK(fake::diff(given, fixture.k.state) == "");
  CHECK(fixture.recorded().size() == 1);
}

TEST_CASE("a function that is taken out of the machine keeps its record until it is back") {
  Fixture fixture;
  REQUIRE(fixture.add());
  const auto out = fixture.k.state.functions.extract(kVf);
  REQUIRE(del_as(fixture, "c1", kPod));
  CHECK(fixture.recorded().size() == 1);
  CHECK(fixture.leases().empty());
  SUBCASE("the machine has been restarted without it") {
    fixture.boot_id = "next";
    REQUIRE(del_as(fixture, "c1", kPod));
    CHECK(fixture.recorded().empty());
  }
  SUBCASE("it returns, as mlx5 gives it back: with the last pod's GUIDs") {
    fixture.k.state.functions[kVf] = out.mapped();
    REQUIRE(del_as(fixture, "c1", kPod));
    CHECK(fixture.leftovers() == "");
  }
}

TEST_CASE("a full disk is told as such") {
  Fixture fixture;
  REQUIRE(fixture.add());
  fixture.k.fail_from(0);
  const Error error = del_as(fixture, "c1", kPod).error();
  CHECK(cni::failure_of(error).code == cni::kIoFailure);
}

// An IPAM plugin that refuses until the file `well` is beside it.
const std::string kRefuses =
    "[ $VERB = DEL ] && [ ! -e $HERE/well ] && { echo '{\"code\":5,\"msg\":\"no disk\"}'; exit 1; "
    "}";

TEST_CASE("after a failure the record stays for the next DEL, and IPAM is not asked") {
  Fixture fixture;
  REQUIRE(fixture.add());
  fixture.install_ipam(kRefuses);
  fixture.k.fail_from(0);
  const Error error = del_as(fixture, "c1", kPod).error();
  CHECK(error.text().find("Input/output error") != std::string::npos);
  CHECK(error.text().find("no disk") == std::string::npos);
  CHECK(fixture.leases().size() == 1);
  CHECK(fixture.recorded().size() == 1);
  CHECK(fixture.owed().empty());
}

TEST_CASE("an IPAM that fails keeps no VF out of service: only the address is owed") {
  Fixture fixture;
  REQUIRE(fixture.add());
  fixture.install_ipam(kRefuses);
  CHECK(del_as(fixture, "c1", kPod).error().text() ==
        "0000:3b:00.1 is back and free for the next pod, but the pod's address is not yet released "
        "at ipam lease (DEL, GC and the node's agent retry): IPAM DEL: ipam lease: no disk (code "
        "5)");
  CHECK(fixture.changes() == "");
  CHECK(fixture.recorded().empty());
  CHECK(fixture.owed() == std::vector<std::string>{"c1:net1"});
  CHECK(fixture.leases().size() == 1);

  fixture.k.make_namespace(kOther);
  fixture.set_call(cni::Verb::add, "c2", kOther);
  REQUIRE(fixture.add());
  CHECK(!del_as(fixture, "c1", ""));
  CHECK(fixture.leases().size() == 2);
  fixture.programs.write("well", "");
  REQUIRE(del_as(fixture, "c1", ""));
  CHECK(fixture.owed().empty());
  CHECK(fixture.leases() == std::vector<std::string>{"lease-c2:net1"});
  CHECK(fixture.recorded() == std::vector<std::string>{"0000:3b:00.1/c2:net1"});
  CHECK(del_as(fixture, "c1", ""));
}

TEST_CASE("a DEL that means another attempt pays nothing") {
  Fixture fixture;
  REQUIRE(fixture.add());
  const std::string attempt = only_record(fixture).attempt;
  fixture.install_ipam(kRefuses);
  REQUIRE(!del_as(fixture, "c1", kPod));
  fixture.programs.write("well", "");
  fixture.set_call(cni::Verb::del, "c1", "");
  fixture.call.environment[std::string(kOnlyAttempt)] = "of before";
  CHECK(del(fixture.context(), "", kLong));
  CHECK(fixture.owed().size() == 1);
  fixture.call.environment[std::string(kOnlyAttempt)] = attempt;
  CHECK(del(fixture.context(), "", kLong));
  CHECK(fixture.leftovers() == "");
  const size_t calls = fixture.ipam_calls().size();
  CHECK(del(fixture.context(), "", kLong));
  CHECK(fixture.ipam_calls().size() == calls);
}

// IPAM plugins identify an address by container and interface.
TEST_CASE("what is owed of a name is not taken from a living attachment of that name") {
  Fixture fixture;
  REQUIRE(fixture.add());
  node::Record before = only_record(fixture);
  before.attempt = "of before";
  REQUIRE(fixture.records.address_releases().write(before));
  fixture.set_call(cni::Verb::del, "c1", "");
  fixture.call.environment[std::string(kOnlyAttempt)] = "of before";
  const Error error = del(fixture.context(), "", kLong).error();
  CHECK(error.code() == Code::busy);
  CHECK(error.text() ==
        "addresses of c1:net1: IPAM does not release them before the attachment "
        "0000:3b:00.1/c1:net1 has ended");
  CHECK(fixture.leases().size() == 1);
  REQUIRE(fixture.del());
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("what is owed and cannot be read is paid by what the call says") {
  Fixture fixture;
  REQUIRE(fixture.add());
  fixture.install_ipam(kRefuses);
  REQUIRE(!del_as(fixture, "c1", kPod));
  const node::AddressReleaseName name = fixture.records.address_releases().all().value().at(0);
  REQUIRE(write_file_atomically(
      fixture.state.path() / "addresses" / "c1:net1" / (name.attempt + ".json"), "{"));
  CHECK(!del_as(fixture, "c1", kPod));
  CHECK(fixture.owed().size() == 1);
  fixture.programs.write("well", "");
  CHECK(del_as(fixture, "c1", kPod));
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("a VF whose address cannot be noted as owed keeps its record") {
  Fixture fixture;
  REQUIRE(fixture.add());
  fixture.state.write("addresses", "no folder");
  CHECK(!del_as(fixture, "c1", kPod));
  CHECK(fixture.changes() == "");
  CHECK(fixture.recorded().size() == 1);
  CHECK(fixture.leases().size() == 1);
  std::filesystem::remove(fixture.state.path() / "addresses");
  REQUIRE(del_as(fixture, "c1", kPod));
  CHECK(fixture.leftovers() == "");
}

// The DEL is killed at every step, with an IPAM plugin that refuses until the end.
TEST_CASE("wherever a DEL is killed, the VF is the next pod's and the address is not forgotten") {
  bool struck = true;
  int points = 0;
  for (; struck; ++points) {
    CAPTURE(points);
    Fixture fixture;
    REQUIRE(fixture.add());
    fixture.install_ipam(kRefuses);
    fixture.k.kill_at(points, fake::FakeKernel::When::after_effect);
    try {
      CHECK(!del_as(fixture, "c1", kPod));
    } catch (const fake::Killed&) {
    }
    struck = fixture.k.struck();
    fixture.k.heal();
    CHECK(!del_as(fixture, "c1", kPod));
    CHECK(fixture.changes() == "");
    CHECK(fixture.recorded().empty());
    CHECK(fixture.owed().size() == 1);
    CHECK(fixture.leases().size() == 1);
    fixture.programs.write("well", "");
    REQUIRE(del_as(fixture, "c1", kPod));
    CHECK(fixture.leftovers() == "");
  }
  CHECK(points > 5);
}

// The state after the owed addresses are noted and before the record is removed.
TEST_CASE("what is owed and still recorded is one attachment to every caller") {
  Fixture fixture;
  REQUIRE(fixture.add());
  const node::Record record = only_record(fixture);
  REQUIRE(fixture.records.address_releases().write(record));
  SUBCASE("DEL") { REQUIRE(del_as(fixture, "c1", kPod)); }
  SUBCASE("DEL of the attempt") {
    fixture.set_call(cni::Verb::del, "c1", "");
    fixture.call.environment[std::string(kOnlyAttempt)] = record.attempt;
    REQUIRE(del(fixture.context(), "", kLong));
  }
  CHECK(fixture.leftovers() == "");
}

// The state after the last file is removed and before its folder is.
TEST_CASE("a folder that a killed DEL has left goes with the next one") {
  Fixture fixture;
  REQUIRE(fixture.add());
  const node::Record record = only_record(fixture);
  REQUIRE(del_as(fixture, "c1", kPod));
  const Path device = fixture.record_file().parent_path();
  std::string known;
  SUBCASE("the record's, and its address is owed") {
    std::filesystem::create_directories(device);
    REQUIRE(fixture.records.address_releases().write(record));
  }
  SUBCASE("the record's, and the call knows the device") {
    std::filesystem::create_directories(device);
    known = kVf.text();
  }
  SUBCASE("that of what was owed") {
    std::filesystem::create_directories(fixture.state.path() / "addresses" / "c1:net1");
  }
  CHECK(fixture.leftovers() != "");
  fixture.set_call(cni::Verb::del, "c1", kPod);
  CHECK(del(fixture.context(), known, kLong));
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("IPAM is told the namespace while it is there, and none when it is gone") {
  Fixture fixture;
  REQUIRE(fixture.add());
  SUBCASE("there") {
    REQUIRE(del_as(fixture, "c1", kPod));
    CHECK(fixture.ipam_calls().back() == "DEL c1:net1 /run/netns/pod");
  }
  SUBCASE("gone") {
    fixture.k.kill_namespace(kPod);
    REQUIRE(del_as(fixture, "c1", kPod));
    CHECK(fixture.ipam_calls().back() == "DEL c1:net1 ");
  }
}

TEST_CASE("dhcp is not asked for what it can never have given") {
  Fixture fixture;
  fixture.programs.script("dhcp", "exit 1");
  fixture.configure(R"("ipam":{"type":"dhcp"})");
  CHECK(del_as(fixture, "c1", kPod));
}

}  // namespace
}  // namespace ibpod::attach
