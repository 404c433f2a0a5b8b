#include "lib/attach/del.h"

#include "lib/attach/add.h"
#include "lib/attach/address_release.h"
#include "lib/attach/release.h"
#include "lib/cni/errors.h"
#include "tests/support/attach_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

constexpr Duration kLong{60'000};
const Path kOther = "/run/netns/other";

Status del_as(Bed& bed, const std::string& container, const Path& netns) {
  bed.be(cni::Verb::del, container, netns);
  return del(bed.context(), kVf.text(), kLong);
}

void forget_pod(Bed& bed) {
  std::erase_if(bed.before.namespaces, [](const auto& entry) { return entry.second.path == kPod; });
}

node::Record only_record(const Bed& bed) {
  return bed.records.read(bed.records.all().value().at(0)).value();
}

TEST_CASE("DEL works twice, and without a namespace") {
  for (const Path& netns : {kPod, Path()}) {
    Bed bed;
    REQUIRE(bed.add());
    REQUIRE(del_as(bed, "c1", netns));
    CHECK(bed.leftovers() == "");
    CHECK(del_as(bed, "c1", netns));
    CHECK(bed.leftovers() == "");
  }
}

TEST_CASE("DEL works after the namespace has died, and after a reboot") {
  Bed bed;
  REQUIRE(bed.add());
  forget_pod(bed);
  bed.k.kill_namespace(kPod);
  SUBCASE("the path is told") { REQUIRE(del_as(bed, "c1", kPod)); }
  SUBCASE("it is not") { REQUIRE(del_as(bed, "c1", "")); }
  SUBCASE("another boot") {
    bed.boot_id = "next";
    REQUIRE(del_as(bed, "c1", kPod));
  }
  CHECK(bed.leftovers() == "");
}

// As seen: the boot's VFs had no GUIDs, no call could give them those of the record, and so they
// were out of service for good.
TEST_CASE("DEL after a power cut leaves the VF as this boot has made it") {
  Bed bed;
  SUBCASE("a GUID was asked for") {}
  SUBCASE("none was") { bed.order.wanted.guids.reset(); }
  REQUIRE(bed.add());
  bed.k.lose_power();
  bed.boot_id = "next";
  SUBCASE("nobody has made VFs yet") {}
  SUBCASE("without a GUID") { bed.k.make_vfs(fake::pf_address(0), 2); }
  SUBCASE("without a driver") {
    bed.k.function_state(fake::pf_address(0)).autoprobe = false;
    bed.k.make_vfs(fake::pf_address(0), 2);
  }
  SUBCASE("with another GUID, as an agent gives it") {
    bed.k.make_vfs(fake::pf_address(0), 2);
    bed.k.unbind(kVf);
    fake::PciFunction& function = bed.k.function_state(kVf);
    function.node_guid.value = function.port_guid.value = ib::Guid(0x0200000000000b01);
    REQUIRE(bed.k.bind(kVf, "mlx5_core"));
  }
  bed.remember();
  REQUIRE(del_as(bed, "c1", ""));
  CHECK(bed.leftovers() == "");
}

TEST_CASE("the device is found by the record, not by what the call says of it") {
  Bed bed;
  REQUIRE(bed.add());
  bed.be(cni::Verb::del, "c1", kPod);
  SUBCASE("another device") { REQUIRE(del(bed.context(), fake::vf_address(0, 1).text(), kLong)); }
  SUBCASE("none") { REQUIRE(del(bed.context(), "", kLong)); }
  SUBCASE("a configuration without IPAM") {
    bed.configure(R"("dns":{})");
    REQUIRE(del(bed.context(), kVf.text(), kLong));
  }
  CHECK(bed.leftovers() == "");
}

TEST_CASE("a DEL with no ADD before it changes nothing") {
  Bed bed;
  CHECK(del_as(bed, "c7", kPod));
  CHECK(del_as(bed, "c7", ""));
  CHECK(del_as(bed, "c7", "/run/netns/gone"));
  CHECK(del_as(bed, "c7", kOwn));
  CHECK(bed.leftovers() == "");
}

TEST_CASE("the late DEL of an old container touches nothing of the new owner") {
  Bed bed;
  REQUIRE(bed.add());
  REQUIRE(del_as(bed, "c1", kPod));
  bed.k.make_namespace(kOther);
  bed.be(cni::Verb::add, "c2", kOther);
  REQUIRE(bed.add());
  const fake::State given = bed.k.state;
  CHECK(del_as(bed, "c1", kPod));
  CHECK(del_as(bed, "c1", ""));
  // Even one that is told the new owner's namespace.
  CHECK(del_as(bed, "c1", kOther));
  CHECK(fake::diff(given, bed.k.state) == "");
  CHECK(bed.recorded() == std::vector<std::string>{"0000:3b:00.1/c2:net1"});
  CHECK(bed.leases() == std::vector<std::string>{"lease-c2:net1"});
}

TEST_CASE("a DEL that means one attempt touches nothing of another one") {
  Bed bed;
  REQUIRE(bed.add());
  const fake::State given = bed.k.state;
  bed.be(cni::Verb::del, "c1", "");
  bed.call.environment[std::string(kOnlyAttempt)] = "of before";
  CHECK(del(bed.context(), kVf.text(), kLong));
  CHECK(fake::diff(given, bed.k.state) == "");
  CHECK(bed.leases().size() == 1);
  bed.call.environment[std::string(kOnlyAttempt)] = only_record(bed).attempt;
  CHECK(del(bed.context(), kVf.text(), kLong));
  CHECK(bed.leftovers() == "");
}

TEST_CASE("without a record, only what is in this call's namespace comes home") {
  Bed bed(false);
  bed.order.wanted.guids.reset();
  bed.k.make_namespace(kOther);
  REQUIRE(bed.add());
  std::filesystem::remove(bed.record_file());
  const fake::State given = bed.k.state;
  CHECK(del_as(bed, "c1", kOther));
  CHECK(fake::diff(given, bed.k.state) == "");
  CHECK(del_as(bed, "c1", kPod));
  CHECK(bed.k.netdevs(node::kHost, kVf).value().size() == 1);
  CHECK(bed.k.rdma_devices(node::kHost, kVf).value().size() == 1);
}

TEST_CASE("a damaged record: DEL fetches the device, gives the lease back, and leaves the record") {
  Bed bed;
  REQUIRE(bed.add());
  REQUIRE(write_file_atomically(bed.record_file(), "{"));
  CHECK(del_as(bed, "c1", kPod));
  CHECK(bed.recorded().size() == 1);
  CHECK(bed.leases().empty());
  CHECK(bed.k.netdevs(node::kHost, kVf).value().size() == 1);
  CHECK(bed.warnings.size() == 1);
  CHECK(del_as(bed, "c1", ""));
  CHECK(bed.recorded().size() == 1);
}

TEST_CASE("a damaged record says by its place which device DEL has to fetch") {
  Bed bed;
  REQUIRE(bed.add());
  REQUIRE(write_file_atomically(bed.record_file(), "{"));
  bed.be(cni::Verb::del, "c1", kPod);
  SUBCASE("the call names another") {
    CHECK(del(bed.context(), fake::vf_address(0, 1).text(), kLong));
  }
  SUBCASE("the call names none") { CHECK(del(bed.context(), "", kLong)); }
  CHECK(bed.k.netdevs(node::kHost, kVf).value().size() == 1);
  CHECK(bed.recorded().size() == 1);
}

TEST_CASE("a record of a newer version is no damage: it stays, and so does all it speaks of") {
  Bed bed;
  REQUIRE(bed.add());
  std::string text = read_file(bed.record_file()).value();
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 9");
  REQUIRE(write_file_atomically(bed.record_file(), text));
  const fake::State given = bed.k.state;
  const Error error = del_as(bed, "c1", kPod).error();
  CHECK(error.code() == Code::unsupported);
  CHECK(error.text().find("a newer ibpod wrote it") != std::string::npos);
  CHECK(fake::diff(given, bed.k.state) == "");
  CHECK(bed.recorded().size() == 1);
}

TEST_CASE("a function that is taken out of the machine keeps its record until it is back") {
  Bed bed;
  REQUIRE(bed.add());
  const auto out = bed.k.state.functions.extract(kVf);
  REQUIRE(del_as(bed, "c1", kPod));
  CHECK(bed.recorded().size() == 1);
  CHECK(bed.leases().empty());
  SUBCASE("the machine has been started anew without it") {
    bed.boot_id = "next";
    REQUIRE(del_as(bed, "c1", kPod));
    CHECK(bed.recorded().empty());
  }
  SUBCASE("it returns, as mlx5 gives it back: with the last pod's GUIDs") {
    bed.k.state.functions[kVf] = out.mapped();
    REQUIRE(del_as(bed, "c1", kPod));
    CHECK(bed.leftovers() == "");
  }
}

TEST_CASE("a full disk is told as such") {
  Bed bed;
  REQUIRE(bed.add());
  bed.k.fail_from(0);
  const Error error = del_as(bed, "c1", kPod).error();
  CHECK(cni::failure_of(error).code == cni::kIoFailure);
}

// An IPAM plugin that refuses until the file `well` is beside it.
const std::string kRefuses =
    "[ $VERB = DEL ] && [ ! -e $HERE/well ] && { echo '{\"code\":5,\"msg\":\"no disk\"}'; exit 1; "
    "}";

TEST_CASE("after a failure the record stays for the next DEL, and IPAM is not asked") {
  Bed bed;
  REQUIRE(bed.add());
  bed.install_ipam(kRefuses);
  bed.k.fail_from(0);
  const Error error = del_as(bed, "c1", kPod).error();
  CHECK(error.text().find("Input/output error") != std::string::npos);
  CHECK(error.text().find("no disk") == std::string::npos);
  CHECK(bed.leases().size() == 1);
  CHECK(bed.recorded().size() == 1);
  CHECK(bed.owed().empty());
}

TEST_CASE("an IPAM that fails keeps no VF out of service: only the address is owed") {
  Bed bed;
  REQUIRE(bed.add());
  bed.install_ipam(kRefuses);
  CHECK(del_as(bed, "c1", kPod).error().text() ==
        "0000:3b:00.1 is back and free for the next pod, but the pod's address is still owed to "
        "ipam lease (DEL, GC and the node's agent try again): IPAM DEL: ipam lease: no disk (code "
        "5)");
  CHECK(bed.changes() == "");
  CHECK(bed.recorded().empty());
  CHECK(bed.owed() == std::vector<std::string>{"c1:net1"});
  CHECK(bed.leases().size() == 1);

  bed.k.make_namespace(kOther);
  bed.be(cni::Verb::add, "c2", kOther);
  REQUIRE(bed.add());
  CHECK(!del_as(bed, "c1", ""));
  CHECK(bed.leases().size() == 2);
  bed.programs.write("well", "");
  REQUIRE(del_as(bed, "c1", ""));
  CHECK(bed.owed().empty());
  CHECK(bed.leases() == std::vector<std::string>{"lease-c2:net1"});
  CHECK(bed.recorded() == std::vector<std::string>{"0000:3b:00.1/c2:net1"});
  CHECK(del_as(bed, "c1", ""));
}

TEST_CASE("a DEL that means another attempt pays nothing") {
  Bed bed;
  REQUIRE(bed.add());
  const std::string attempt = only_record(bed).attempt;
  bed.install_ipam(kRefuses);
  REQUIRE(!del_as(bed, "c1", kPod));
  bed.programs.write("well", "");
  bed.be(cni::Verb::del, "c1", "");
  bed.call.environment[std::string(kOnlyAttempt)] = "of before";
  CHECK(del(bed.context(), "", kLong));
  CHECK(bed.owed().size() == 1);
  bed.call.environment[std::string(kOnlyAttempt)] = attempt;
  CHECK(del(bed.context(), "", kLong));
  CHECK(bed.leftovers() == "");
  const size_t calls = bed.ipam_calls().size();
  CHECK(del(bed.context(), "", kLong));
  CHECK(bed.ipam_calls().size() == calls);
}

// IPAM plugins know an address by container and interface.
TEST_CASE("what is owed of a name is not taken from a living attachment of that name") {
  Bed bed;
  REQUIRE(bed.add());
  node::Record before = only_record(bed);
  before.attempt = "of before";
  REQUIRE(bed.records.address_releases().write(before));
  bed.be(cni::Verb::del, "c1", "");
  bed.call.environment[std::string(kOnlyAttempt)] = "of before";
  const Error error = del(bed.context(), "", kLong).error();
  CHECK(error.code() == Code::busy);
  CHECK(error.text() ==
        "addresses of c1:net1: IPAM is not asked to take them back before the attachment "
        "0000:3b:00.1/c1:net1 has ended");
  CHECK(bed.leases().size() == 1);
  REQUIRE(bed.del());
  CHECK(bed.leftovers() == "");
}

TEST_CASE("what is owed and cannot be read is paid by what the call says") {
  Bed bed;
  REQUIRE(bed.add());
  bed.install_ipam(kRefuses);
  REQUIRE(!del_as(bed, "c1", kPod));
  const node::AddressReleaseName name = bed.records.address_releases().all().value().at(0);
  REQUIRE(write_file_atomically(
      bed.state.path() / "addresses" / "c1:net1" / (name.attempt + ".json"), "{"));
  CHECK(!del_as(bed, "c1", kPod));
  CHECK(bed.owed().size() == 1);
  bed.programs.write("well", "");
  CHECK(del_as(bed, "c1", kPod));
  CHECK(bed.leftovers() == "");
}

TEST_CASE("a VF whose address cannot be noted as owed keeps its record") {
  Bed bed;
  REQUIRE(bed.add());
  bed.state.write("addresses", "no folder");
  CHECK(!del_as(bed, "c1", kPod));
  CHECK(bed.changes() == "");
  CHECK(bed.recorded().size() == 1);
  CHECK(bed.leases().size() == 1);
  std::filesystem::remove(bed.state.path() / "addresses");
  REQUIRE(del_as(bed, "c1", kPod));
  CHECK(bed.leftovers() == "");
}

// At every step of DEL, with an IPAM that refuses until all is over.
TEST_CASE("wherever a DEL is killed, the VF is the next pod's and the address is not forgotten") {
  bool struck = true;
  int points = 0;
  for (; struck; ++points) {
    CAPTURE(points);
    Bed bed;
    REQUIRE(bed.add());
    bed.install_ipam(kRefuses);
    bed.k.kill_at(points, fake::FakeKernel::When::after_effect);
    try {
      CHECK(!del_as(bed, "c1", kPod));
    } catch (const fake::Killed&) {
    }
    struck = bed.k.struck();
    bed.k.heal();
    CHECK(!del_as(bed, "c1", kPod));
    CHECK(bed.changes() == "");
    CHECK(bed.recorded().empty());
    CHECK(bed.owed().size() == 1);
    CHECK(bed.leases().size() == 1);
    bed.programs.write("well", "");
    REQUIRE(del_as(bed, "c1", kPod));
    CHECK(bed.leftovers() == "");
  }
  CHECK(points > 5);
}

// Between the note of what is owed and the end of the record.
TEST_CASE("what is owed and still recorded is one attachment, whoever goes on with it") {
  Bed bed;
  REQUIRE(bed.add());
  const node::Record record = only_record(bed);
  REQUIRE(bed.records.address_releases().write(record));
  SUBCASE("DEL") { REQUIRE(del_as(bed, "c1", kPod)); }
  SUBCASE("DEL of the attempt") {
    bed.be(cni::Verb::del, "c1", "");
    bed.call.environment[std::string(kOnlyAttempt)] = record.attempt;
    REQUIRE(del(bed.context(), "", kLong));
  }
  CHECK(bed.leftovers() == "");
}

// Between the last file's removal and its folder's.
TEST_CASE("a folder that a killed DEL has left goes with the next one") {
  Bed bed;
  REQUIRE(bed.add());
  const node::Record record = only_record(bed);
  REQUIRE(del_as(bed, "c1", kPod));
  const Path device = bed.record_file().parent_path();
  std::string known;
  SUBCASE("the record's, and its address is owed") {
    std::filesystem::create_directories(device);
    REQUIRE(bed.records.address_releases().write(record));
  }
  SUBCASE("the record's, and the call knows the device") {
    std::filesystem::create_directories(device);
    known = kVf.text();
  }
  SUBCASE("that of what was owed") {
    std::filesystem::create_directories(bed.state.path() / "addresses" / "c1:net1");
  }
  CHECK(bed.leftovers() != "");
  bed.be(cni::Verb::del, "c1", kPod);
  CHECK(del(bed.context(), known, kLong));
  CHECK(bed.leftovers() == "");
}

TEST_CASE("IPAM is told the namespace while it is there, and none when it is gone") {
  Bed bed;
  REQUIRE(bed.add());
  SUBCASE("there") {
    REQUIRE(del_as(bed, "c1", kPod));
    CHECK(bed.ipam_calls().back() == "DEL c1:net1 /run/netns/pod");
  }
  SUBCASE("gone") {
    bed.k.kill_namespace(kPod);
    REQUIRE(del_as(bed, "c1", kPod));
    CHECK(bed.ipam_calls().back() == "DEL c1:net1 ");
  }
}

TEST_CASE("dhcp is not asked for what it can never have given") {
  Bed bed;
  bed.programs.script("dhcp", "exit 1");
  bed.configure(R"("ipam":{"type":"dhcp"})");
  CHECK(del_as(bed, "c1", kPod));
}

}  // namespace
}  // namespace ibpod::attach
