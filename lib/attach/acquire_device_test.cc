#include "lib/attach/acquire_device.h"

#include "lib/attach/add.h"
#include "lib/cni/errors.h"
#include "tests/support/attach_fixture.h"

#include <thread>

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

const Path kOther = "/run/netns/other";
const node::RecordName kOwnName{kVf.text(), "c1", "net1"};
const Deadline kNow = Deadline::in(Duration(0));
Deadline soon() { return Deadline::in(Duration(60'000)); }

// The other pod has the VF.
void give_to_other(Bed& bed) {
  bed.k.make_namespace(kOther);
  bed.remember();
  bed.be(cni::Verb::add, "c0", kOther);
  bed.call.pod = {"web-0", "shop", ""};
  REQUIRE(bed.add());
  bed.be(cni::Verb::add, "c1", kPod);
}

Error refused(Bed& bed, Deadline deadline) {
  const Result<FolderLock> claimed = claim(bed.context(), kOwnName, deadline);
  REQUIRE_FALSE(claimed);
  return claimed.error();
}

TEST_CASE("a device that nobody has is claimed at once") {
  Bed bed(false);
  CHECK(claim(bed.context(), kOwnName, soon()));
  CHECK(bed.leftovers() == "");
}

TEST_CASE(
    "a device that is free is claimed though the time is over, and one with a leftover is not") {
  Bed bed(false);
  CHECK(claim(bed.context(), kOwnName, kNow));
  give_to_other(bed);
  bed.k.kill_namespace(kOther);
  CHECK(refused(bed, kNow).text() ==
        "0000:3b:00.1: the time was over before all that is left over there was released");
}

TEST_CASE(
    "a device of a living pod is waited for until the deadline, and the error names the pod") {
  Bed bed(false);
  give_to_other(bed);
  const fake::State given = bed.k.state;
  const Error error = refused(bed, kNow);
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text() ==
        "0000:3b:00.1 still belongs to pod shop/web-0 (net1), whose DEL has not come");
  CHECK(fake::diff(given, bed.k.state) == "");
  bed.timeout = Duration(50);
  CHECK(bed.add().error().text() == error.text());
  CHECK(fake::diff(given, bed.k.state) == "");
  CHECK(bed.recorded() == std::vector<std::string>{"0000:3b:00.1/c0:net1"});
}

TEST_CASE("a device stays with a pod whose path shows a file that is no namespace") {
  Bed bed(false);
  give_to_other(bed);
  const fake::State given = bed.k.state;
  bed.k.covered.insert(kOther);
  const Error error = refused(bed, kNow);
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text().find("0000:3b:00.1 still belongs to pod shop/web-0 (net1) (/run/netns/other "
                          "is no namespace") == 0);
  CHECK(fake::diff(given, bed.k.state) == "");
  CHECK(bed.recorded() == std::vector<std::string>{"0000:3b:00.1/c0:net1"});
}

TEST_CASE("the claim succeeds as soon as the other's record goes") {
  Bed bed(false);
  give_to_other(bed);
  std::thread other([&] {
    const Result<FolderLock> lock = bed.records.lock(kVf.text(), soon());
    CHECK(lock);
    CHECK(bed.records.remove({kVf.text(), "c0", "net1"}));
  });
  CHECK(claim(bed.context(), kOwnName, soon()));
  other.join();
}

TEST_CASE("what a dead pod left is released on the way") {
  Bed bed;
  give_to_other(bed);
  SUBCASE("its namespace is gone") { bed.k.kill_namespace(kOther); }
  SUBCASE("it was made in another boot") {
    bed.boot_id = "next-boot";
    bed.k.kill_namespace(kOther);
  }
  SUBCASE("its namespace is held by somebody, where no path leads to") {
    bed.k.hide_namespace(kOther);
  }
  CHECK(claim(bed.context(), kOwnName, soon()));
  CHECK(bed.leases().empty());
  CHECK(bed.recorded().empty());
  CHECK(bed.k.rdma_devices(node::kHost, kVf).value().front().port_guid == fake::vf_guid(0, 0));
}

TEST_CASE("a dead pod's VF is claimed whatever its IPAM does: the address stays owed") {
  Bed bed;
  give_to_other(bed);
  bed.k.kill_namespace(kOther);
  bed.install_ipam("[ $VERB = DEL ] && exit 1");
  CHECK(claim(bed.context(), kOwnName, soon()));
  CHECK(bed.recorded().empty());
  CHECK(bed.owed() == std::vector<std::string>{"c0:net1"});
  CHECK(bed.leases() == std::vector<std::string>{"lease-c0:net1"});
  REQUIRE(bed.warnings.size() == 1);
  CHECK(bed.warnings[0].starts_with("0000:3b:00.1 is back and free for the next pod, but the "));
}

TEST_CASE("a dead pod's VF that cannot be released now is error 11") {
  Bed bed(false);
  give_to_other(bed);
  bed.k.kill_namespace(kOther);
  bed.k.fail_from(0);
  const Error error = refused(bed, soon());
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text().starts_with("0000:3b:00.1/c0:net1, which is left over, cannot be released: "));
  bed.k.heal();
  CHECK(claim(bed.context(), kOwnName, soon()));
}

TEST_CASE("one pod does not get the same VF under two names") {
  Bed bed(false);
  REQUIRE(bed.add());
  bed.be(cni::Verb::add, "c1", kPod, "net2");
  const Error error = bed.add().error();
  // It can never succeed: not 11.
  CHECK(cni::failure_of(error).code == cni::kInterfaceExists);
  CHECK(error.text() ==
        "0000:3b:00.1 is already in this pod, as net1: two of the pod's networks name one device, "
        "and it cannot start until they do not. Multus gives a default network "
        "(v1.multus-cni.io/default-network) and the first of the pod's networks the same device if "
        "both have the same resource: give each rail a resource of its own");
  CHECK(bed.recorded().size() == 1);
}

TEST_CASE("an attachment has one device, also where no interface shows it") {
  const node::RecordName another{fake::vf_address(0, 1).text(), "c1", "net1"};
  Bed bed;
  REQUIRE(bed.add());
  const auto claimed = [&] { return claim(bed.context(), another, soon()); };
  SUBCASE("it is there") {
    const Error error = claimed().error();
    CHECK(cni::failure_of(error).code == cni::kInterfaceExists);
    CHECK(error.text() == "the pod has net1 already, on 0000:3b:00.1");
    CHECK(bed.recorded().size() == 1);
  }
  SUBCASE("its pod has gone, and another one has its name") {
    bed.k.kill_namespace(kPod);
    CHECK(claimed());
    CHECK(bed.recorded().empty());
    CHECK(bed.leases().empty());
  }
  SUBCASE("its end has begun") {
    node::Record record = bed.records.read(kOwnName).value();
    record.stage = node::Stage::ending;
    REQUIRE(bed.records.write(record));
    CHECK(claimed());
    CHECK(bed.leftovers() == "");
  }
  SUBCASE("it cannot be released") {
    bed.k.kill_namespace(kPod);
    bed.k.fail_from(0);
    CHECK(cni::failure_of(claimed().error()).code == cni::kTryAgainLater);
  }
  SUBCASE("it is damaged") {
    REQUIRE(write_file_atomically(bed.record_file(), "{"));
    const Error error = claimed().error();
    CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
    CHECK(error.text().starts_with("0000:3b:00.1 is out of service"));
  }
}

TEST_CASE("a VF that is taken out of the machine while it is waited for is error 11") {
  Bed bed(false);
  give_to_other(bed);
  bed.k.kill_namespace(kOther);
  bed.k.state.functions.erase(kVf);
  const Error error = refused(bed, soon());
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text() ==
        "0000:3b:00.1/c0:net1, which is left over, stays: 0000:3b:00.1 has been taken out of the "
        "machine");
  CHECK(bed.recorded() == std::vector<std::string>{"0000:3b:00.1/c0:net1"});
}

TEST_CASE(
    "a second ADD of the same attachment is refused while the first one's interface is there") {
  Bed bed(false);
  REQUIRE(bed.add());
  CHECK(cni::failure_of(bed.add().error()).code == cni::kInterfaceExists);
  CHECK(bed.recorded().size() == 1);
}

TEST_CASE("what a killed ADD of the same attachment left is released first") {
  Bed bed(false);
  bed.k.kill_at(2, fake::FakeKernel::When::after_effect);
  CHECK_THROWS_AS((void)bed.add(), fake::Killed);
  bed.k.heal();
  CHECK(bed.recorded().size() == 1);
  CHECK(bed.add());
}

TEST_CASE("a damaged record keeps the device out of service: error 11, and nothing is touched") {
  Bed bed(false);
  std::filesystem::create_directories(bed.record_file().parent_path());
  REQUIRE(write_file_atomically(bed.record_file("c0"), "{"));
  const Error error = bed.add().error();
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text().starts_with(
      "0000:3b:00.1 is out of service until garbage collection has cleaned it: record " +
      bed.record_file("c0").string() + ": "));
  CHECK(bed.changes() == "");
  CHECK(bed.recorded().size() == 1);
}

TEST_CASE("so does a record of a newer version, even of a pod that is gone, and stays as it is") {
  Bed bed(false);
  REQUIRE(bed.add());
  std::string text = read_file(bed.record_file()).value();
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 3");
  bed.k.kill_namespace(kPod);
  REQUIRE(write_file_atomically(bed.record_file(), text));
  bed.k.make_namespace("/run/netns/other");
  bed.be(cni::Verb::add, "c2", "/run/netns/other");
  const Error error = bed.add().error();
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text() == "0000:3b:00.1 is out of service: record " + bed.record_file().string() +
                            ": its version is 3, and this program reads none above 2: a newer "
                            "ibpod wrote it (run that one again; the file is left as it is)");
  CHECK(read_file(bed.record_file()).value() == text);
}

}  // namespace
}  // namespace ibpod::attach
