#include "lib/attach/acquire_device.h"

#include "lib/attach/verbs.h"
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

// Attaches the VF to another pod.
void give_to_other(Fixture& fixture) {
  fixture.k.make_namespace(kOther);
  fixture.remember();
  fixture.set_call(cni::Verb::add, "c0", kOther);
  fixture.call.pod = {"web-0", "shop", ""};
  REQUIRE(fixture.add());
  fixture.set_call(cni::Verb::add, "c1", kPod);
}

Error refused(Fixture& fixture, Deadline deadline) {
  const Result<FolderLock> claimed = acquire_device(fixture.context(), kOwnName, deadline);
  REQUIRE_FALSE(claimed);
  return claimed.error();
}

TEST_CASE("a device without an owner is claimed at once") {
  Fixture fixture(false);
  CHECK(acquire_device(fixture.context(), kOwnName, soon()));
  CHECK(fixture.leftovers() == "");
}

TEST_CASE(
    "a device that is free is claimed though the time is over, and one with a leftover is not") {
  Fixture fixture(false);
  CHECK(acquire_device(fixture.context(), kOwnName, kNow));
  give_to_other(fixture);
  fixture.k.kill_namespace(kOther);
  CHECK(refused(fixture, kNow).text() ==
        "0000:3b:00.1: timed out while releasing stale attachments");
}

TEST_CASE(
    "a device of a living pod is waited for until the deadline, and the error names the pod") {
  Fixture fixture(false);
  give_to_other(fixture);
  const fake::State given = fixture.k.state;
  const Error error = refused(fixture, kNow);
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text() ==
        "0000:3b:00.1 still belongs to pod shop/web-0 (net1): its DEL has not been received");
  CHECK(fake::diff(given, fixture.k.state) == "");
  fixture.timeout = Duration(50);
  CHECK(fixture.add().error().text() == error.text());
  CHECK(fake::diff(given, fixture.k.state) == "");
  CHECK(fixture.recorded() == std::vector<std::string>{"0000:3b:00.1/c0:net1"});
}

TEST_CASE("a device stays with a pod whose path shows a file that is no namespace") {
  Fixture fixture(false);
  give_to_other(fixture);
  const fake::State given = fixture.k.state;
  fixture.k.covered.insert(kOther);
  const Error error = refused(fixture, kNow);
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text().find("0000:3b:00.1 still belongs to pod shop/web-0 (net1) (/run/netns/other "
                          "is not a namespace now") == 0);
  CHECK(fake::diff(given, fixture.k.state) == "");
  CHECK(fixture.recorded() == std::vector<std::string>{"0000:3b:00.1/c0:net1"});
}

TEST_CASE("the claim succeeds as soon as the other's record goes") {
  Fixture fixture(false);
  give_to_other(fixture);
  std::thread other([&] {
    const Result<FolderLock> lock = fixture.records.lock(kVf.text(), soon());
    CHECK(lock);
    CHECK(fixture.records.remove({kVf.text(), "c0", "net1"}));
  });
  CHECK(acquire_device(fixture.context(), kOwnName, soon()));
  other.join();
}

TEST_CASE("what a dead pod left is released on the way") {
  Fixture fixture;
  give_to_other(fixture);
  SUBCASE("its namespace is gone") { fixture.k.kill_namespace(kOther); }
  SUBCASE("it was made in another boot") {
    fixture.boot_id = "next-boot";
    fixture.k.kill_namespace(kOther);
  }
  SUBCASE("a process holds its namespace, and no path leads to it") {
    fixture.k.hide_namespace(kOther);
  }
  CHECK(acquire_device(fixture.context(), kOwnName, soon()));
  CHECK(fixture.leases().empty());
  CHECK(fixture.recorded().empty());
  CHECK(fixture.k.rdma_devices(node::kHost, kVf).value().front().port_guid == fake::vf_guid(0, 0));
}

TEST_CASE("a dead pod's VF is claimed whatever its IPAM does: the address stays owed") {
  Fixture fixture;
  give_to_other(fixture);
  fixture.k.kill_namespace(kOther);
  fixture.install_ipam("[ $VERB = DEL ] && exit 1");
  CHECK(acquire_device(fixture.context(), kOwnName, soon()));
  CHECK(fixture.recorded().empty());
  CHECK(fixture.owed() == std::vector<std::string>{"c0:net1"});
  CHECK(fixture.leases() == std::vector<std::string>{"lease-c0:net1"});
  REQUIRE(fixture.warnings.size() == 1);
  CHECK(
      fixture.warnings[0].starts_with("0000:3b:00.1 is back and free for the next pod, but the "));
}

TEST_CASE("a dead pod's VF that cannot be released now is error 11") {
  Fixture fixture(false);
  give_to_other(fixture);
  fixture.k.kill_namespace(kOther);
  fixture.k.fail_from(0);
  const Error error = refused(fixture, soon());
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text().starts_with("stale attachment 0000:3b:00.1/c0:net1 cannot be released: "));
  fixture.k.heal();
  CHECK(acquire_device(fixture.context(), kOwnName, soon()));
}

TEST_CASE("one pod does not get the same VF under two names") {
  Fixture fixture(false);
  REQUIRE(fixture.add());
  fixture.set_call(cni::Verb::add, "c1", kPod, "net2");
  const Error error = fixture.add().error();
  // Not 11 (try again later): it can never succeed.
  CHECK(cni::failure_of(error).code == cni::kInterfaceExists);
  CHECK(error.text() ==
        "0000:3b:00.1 is already in this pod, as net1: two networks of the pod use the same "
        "device, which is not possible. Multus gives a default network "
        "(v1.multus-cni.io/default-network) and the pod's first network the same device if both "
        "have the same resource: use one resource per rail");
  CHECK(fixture.recorded().size() == 1);
}

TEST_CASE("an attachment has one device, also where no interface shows it") {
  const node::RecordName another{fake::vf_address(0, 1).text(), "c1", "net1"};
  Fixture fixture;
  REQUIRE(fixture.add());
  const auto claimed = [&] { return acquire_device(fixture.context(), another, soon()); };
  SUBCASE("it is there") {
    const Error error = claimed().error();
    CHECK(cni::failure_of(error).code == cni::kInterfaceExists);
    CHECK(error.text() == "the pod already has net1, on 0000:3b:00.1");
    CHECK(fixture.recorded().size() == 1);
  }
  SUBCASE("its pod has gone, and another one has its name") {
    fixture.k.kill_namespace(kPod);
    CHECK(claimed());
    CHECK(fixture.recorded().empty());
    CHECK(fixture.leases().empty());
  }
  SUBCASE("its end has begun") {
    node::Record record = fixture.records.read(kOwnName).value();
    record.stage = node::Stage::ending;
    REQUIRE(fixture.records.write(record));
    CHECK(claimed());
    CHECK(fixture.leftovers() == "");
  }
  SUBCASE("it cannot be released") {
    fixture.k.kill_namespace(kPod);
    fixture.k.fail_from(0);
    CHECK(cni::failure_of(claimed().error()).code == cni::kTryAgainLater);
  }
  SUBCASE("it is damaged") {
    REQUIRE(write_file_atomically(fixture.record_file(), "{"));
    const Error error = claimed().error();
    CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
    CHECK(error.text().starts_with("0000:3b:00.1 is out of service"));
  }
}

TEST_CASE("a VF that is taken out of the machine while it is waited for is error 11") {
  Fixture fixture(false);
  give_to_other(fixture);
  fixture.k.kill_namespace(kOther);
  fixture.k.state.functions.erase(kVf);
  const Error error = refused(fixture, soon());
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text() ==
        "stale attachment 0000:3b:00.1/c0:net1 stays: 0000:3b:00.1 has been removed from the "
        "machine");
  CHECK(fixture.recorded() == std::vector<std::string>{"0000:3b:00.1/c0:net1"});
}

TEST_CASE(
    "a second ADD of the same attachment is refused while the first one's interface is there") {
  Fixture fixture(false);
  REQUIRE(fixture.add());
  CHECK(cni::failure_of(fixture.add().error()).code == cni::kInterfaceExists);
  CHECK(fixture.recorded().size() == 1);
}

TEST_CASE("what a killed ADD of the same attachment left is released first") {
  Fixture fixture(false);
  fixture.k.kill_at(2, fake::FakeKernel::When::after_effect);
  CHECK_THROWS_AS((void)fixture.add(), fake::Killed);
  fixture.k.heal();
  CHECK(fixture.recorded().size() == 1);
  CHECK(fixture.add());
}

TEST_CASE("a damaged record keeps the device out of service: error 11, and nothing is touched") {
  Fixture fixture(false);
  std::filesystem::create_directories(fixture.record_file().parent_path());
  REQUIRE(write_file_atomically(fixture.record_file("c0"), "{"));
  const Error error = fixture.add().error();
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text().starts_with(
      "0000:3b:00.1 is out of service until garbage collection cleans it up: record " +
      fixture.record_file("c0").string() + ": "));
  CHECK(fixture.changes() == "");
  CHECK(fixture.recorded().size() == 1);
}

TEST_CASE("so does a record of a newer version, even of a pod that is gone, and stays as it is") {
  Fixture fixture(false);
  REQUIRE(fixture.add());
  std::string text = read_file(fixture.record_file()).value();
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 3");
  fixture.k.kill_namespace(kPod);
  REQUIRE(write_file_atomically(fixture.record_file(), text));
  fixture.k.make_namespace("/run/netns/other");
  fixture.set_call(cni::Verb::add, "c2", "/run/netns/other");
  const Error error = fixture.add().error();
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text() == "0000:3b:00.1 is out of service: record " + fixture.record_file().string() +
                            ": version 3 is too new: this program reads up to version 2; run the "
                            "newer ibpod that wrote it (the file is unchanged)");
  CHECK(read_file(fixture.record_file()).value() == text);
}

}  // namespace
}  // namespace ibpod::attach
