#include "lib/attach/gc.h"

#include "lib/attach/add.h"
#include "tests/support/attach_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

constexpr Duration kLong{60'000};

Status gc_now(Bed& bed, const std::string& network = "blue", const std::string& valid = "") {
  bed.be(cni::Verb::gc, "", "");
  bed.configure(R"("ipam":{"type":"lease"},"cni.dev/valid-attachments":[)" + valid + "]", network);
  return gc(bed.context(), Deadline::in(kLong));
}

void kill(Bed& bed) {
  std::erase_if(bed.before.namespaces, [](const auto& entry) { return entry.second.path == kPod; });
  bed.k.kill_namespace(kPod);
}

TEST_CASE("GC leaves a living namespace alone, whatever the runtime lists") {
  Bed bed;
  REQUIRE(bed.add());
  const fake::State given = bed.k.state;
  CHECK(gc_now(bed));
  CHECK(fake::diff(given, bed.k.state) == "");
  CHECK(bed.recorded().size() == 1);
  CHECK(bed.leases().size() == 1);
}

TEST_CASE("GC leaves a pod alone whose path shows a file that is no namespace, and says so") {
  Bed bed;
  REQUIRE(bed.add());
  const fake::State given = bed.k.state;
  bed.k.covered.insert(kPod);
  CHECK(gc_now(bed));
  CHECK(fake::diff(given, bed.k.state) == "");
  CHECK(bed.recorded().size() == 1);
  CHECK(bed.leases().size() == 1);
  REQUIRE(bed.warnings.size() == 1);
  CHECK(bed.warnings[0].find(kPod.string() + " is no namespace") != std::string::npos);
}

TEST_CASE("GC releases what a dead pod left, with its lease") {
  Bed bed;
  REQUIRE(bed.add());
  kill(bed);
  SUBCASE("of this boot") {}
  SUBCASE("of another") { bed.boot_id = "next"; }
  REQUIRE(gc_now(bed));
  CHECK(bed.leftovers() == "");
}

TEST_CASE(
    "GC has IPAM take back what is owed, of its own network, and does not wait for it twice") {
  Bed bed;
  REQUIRE(bed.add());
  kill(bed);
  bed.install_ipam("[ $VERB = DEL ] && [ ! -e $HERE/well ] && { echo no >&2; exit 1; }");
  const std::string text = gc_now(bed).error().text();
  CHECK(text.find("still owed to ipam lease") != std::string::npos);
  CHECK(bed.changes() == "");
  CHECK(bed.recorded().empty());
  CHECK(bed.owed().size() == 1);
  CHECK(bed.ipam_calls().size() == 2);
  bed.programs.write("well", "");
  REQUIRE(gc_now(bed, "green"));
  CHECK(bed.owed().size() == 1);
  // The runtime goes on calling it valid for as long as its DEL fails.
  REQUIRE(gc_now(bed, "blue", R"({"containerID":"c1","ifname":"net1"})"));
  CHECK(bed.leftovers() == "");
}

TEST_CASE("GC of one network leaves another's attachments alone, and those that are valid") {
  Bed bed;
  REQUIRE(bed.add());
  kill(bed);
  CHECK(gc_now(bed, "red"));
  CHECK(bed.recorded().size() == 1);
  CHECK(gc_now(bed, "blue", R"({"containerID":"c1","ifname":"net1"})"));
  CHECK(bed.recorded().size() == 1);
  CHECK(gc_now(bed, "blue", R"({"containerID":"c1","ifname":"net2"})"));
  CHECK(bed.recorded().empty());
}

TEST_CASE("GC of one plugin leaves another's records alone") {
  Bed bed;
  REQUIRE(bed.add());
  kill(bed);
  bed.be(cni::Verb::gc, "", "");
  Context context = bed.context();
  context.plugin = "another";
  CHECK(gc(context, Deadline::in(kLong)));
  CHECK(bed.recorded().size() == 1);
}

TEST_CASE("a damaged record goes when its device is home, and the VF carries no GUID then") {
  Bed bed;
  REQUIRE(bed.add());
  REQUIRE(write_file_atomically(bed.record_file(), "{"));
  const Error error = gc_now(bed).error();
  CHECK(error.code() == Code::busy);
  CHECK(bed.recorded().size() == 1);
  bed.k.kill_namespace(kPod);
  REQUIRE(gc_now(bed));
  CHECK(bed.recorded().empty());
  CHECK(bed.k.rdma_devices(node::kHost, kVf).value().front().port_guid.none());
}

TEST_CASE("GC goes on through failures and tells them all") {
  Bed bed;
  REQUIRE(bed.add());
  REQUIRE(write_file_atomically(bed.record_file("c0"), "{"));
  std::filesystem::create_directories(bed.state.path() / "attachments" /
                                      fake::vf_address(0, 1).text());
  bed.state.write("attachments/" + fake::vf_address(0, 1).text() + "/c9:net1.json", "{");
  const Error error = gc_now(bed).error();
  CHECK(error.text().find("c0:net1") != std::string::npos);
  // The neighbour's device was at home.
  CHECK(bed.recorded() == std::vector<std::string>{"0000:3b:00.1/c0:net1", "0000:3b:00.1/c1:net1"});
}

TEST_CASE("IPAM's GC is told of those that live although the runtime does not list them") {
  Bed bed;
  bed.install_ipam("[ $VERB = GC ] && cp $HERE/input $HERE/gc-input", R"("1.0.0","1.1.0")");
  REQUIRE(bed.add());
  CHECK(gc_now(bed, "blue", R"({"containerID":"c2","ifname":"net1"})"));
  const std::string told = read_file(bed.programs.path() / "gc-input").value();
  const json::Value list = json::Value::parse(told)->at("cni.dev/valid-attachments").value();
  CHECK(list.text() ==
        R"([{"containerID":"c1","ifname":"net1"},{"containerID":"c2","ifname":"net1"}])");
}

TEST_CASE("a record that cannot be read for now is no damaged one") {
  Bed bed;
  REQUIRE(bed.add());
  kill(bed);
  std::string text = read_file(bed.record_file()).value();
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 9");
  REQUIRE(write_file_atomically(bed.record_file(), text));
  const fake::State given = bed.k.state;
  CHECK(gc_now(bed).error().code() == Code::unsupported);
  CHECK(fake::diff(given, bed.k.state) == "");
  CHECK(bed.recorded().size() == 1);
}

TEST_CASE("GC is forwarded only to an IPAM that knows it") {
  for (const bool knows : {true, false}) {
    Bed bed;
    bed.install_ipam("", knows ? R"("1.0.0","1.1.0")" : R"("1.0.0")");
    CHECK(gc_now(bed));
    CHECK(bed.ipam_calls().size() == (knows ? 1 : 0));
  }
}

}  // namespace
}  // namespace ibpod::attach
