#include "lib/attach/verbs.h"
#include "tests/support/attach_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

constexpr Duration kLong{60'000};

Status gc_now(Fixture& fixture, const std::string& network = "blue",
              const std::string& valid = "") {
  fixture.set_call(cni::Verb::gc, "", "");
  fixture.configure(R"("ipam":{"type":"lease"},"cni.dev/valid-attachments":[)" + valid + "]",
                    network);
  return gc(fixture.context(), *fixture.driver(), Deadline::in(kLong));
}

void kill(Fixture& fixture) {
  std::erase_if(fixture.before.namespaces,
                [](const auto& entry) { return entry.second.path == kPod; });
  fixture.k.kill_namespace(kPod);
}

TEST_CASE("GC leaves a living namespace alone, whatever the runtime lists") {
  Fixture fixture;
  REQUIRE(fixture.add());
  const fake::State given = fixture.k.state;
  CHECK(gc_now(fixture));
  CHECK(fake::diff(given, fixture.k.state) == "");
  CHECK(fixture.recorded().size() == 1);
  CHECK(fixture.leases().size() == 1);
}

TEST_CASE("GC leaves a pod alone whose path shows a file that is no namespace, and says so") {
  Fixture fixture;
  REQUIRE(fixture.add());
  const fake::State given = fixture.k.state;
  fixture.k.covered.insert(kPod);
  CHECK(gc_now(fixture));
  CHECK(fake::diff(given, fixture.k.state) == "");
  CHECK(fixture.recorded().size() == 1);
  CHECK(fixture.leases().size() == 1);
  REQUIRE(fixture.warnings.size() == 1);
  CHECK(fixture.warnings[0].find(kPod.string() + " is not a namespace now") != std::string::npos);
}

TEST_CASE("GC releases what a dead pod left, with its lease") {
  Fixture fixture;
  REQUIRE(fixture.add());
  kill(fixture);
  SUBCASE("of this boot") {}
  SUBCASE("of another") { fixture.boot_id = "next"; }
  REQUIRE(gc_now(fixture));
  CHECK(fixture.leftovers() == "");
}

TEST_CASE(
    "GC has IPAM take back what is owed, of its own network, and does not wait for it twice") {
  Fixture fixture;
  REQUIRE(fixture.add());
  kill(fixture);
  fixture.install_ipam("[ $VERB = DEL ] && [ ! -e $HERE/well ] && { echo no >&2; exit 1; }");
  const std::string text = gc_now(fixture).error().text();
  CHECK(text.find("not yet released at ipam lease") != std::string::npos);
  CHECK(fixture.changes() == "");
  CHECK(fixture.recorded().empty());
  CHECK(fixture.owed().size() == 1);
  CHECK(fixture.ipam_calls().size() == 2);
  fixture.programs.write("well", "");
  REQUIRE(gc_now(fixture, "green"));
  CHECK(fixture.owed().size() == 1);
  // The runtime calls an attachment valid as long as its DEL fails.
  REQUIRE(gc_now(fixture, "blue", R"({"containerID":"c1","ifname":"net1"})"));
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("GC of one network leaves another's attachments alone, and those that are valid") {
  Fixture fixture;
  REQUIRE(fixture.add());
  kill(fixture);
  CHECK(gc_now(fixture, "red"));
  CHECK(fixture.recorded().size() == 1);
  CHECK(gc_now(fixture, "blue", R"({"containerID":"c1","ifname":"net1"})"));
  CHECK(fixture.recorded().size() == 1);
  CHECK(gc_now(fixture, "blue", R"({"containerID":"c1","ifname":"net2"})"));
  CHECK(fixture.recorded().empty());
}

TEST_CASE("GC of one plugin leaves another's records alone") {
  Fixture fixture;
  REQUIRE(fixture.add());
  kill(fixture);
  fixture.set_call(cni::Verb::gc, "", "");
  Context context = fixture.context();
  context.request.plugin = "another";
  CHECK(gc(context, *fixture.driver(), Deadline::in(kLong)));
  CHECK(fixture.recorded().size() == 1);
}

TEST_CASE("a damaged record goes when its device is home, and the VF carries no GUID then") {
  Fixture fixture;
  REQUIRE(fixture.add());
  REQUIRE(write_file_atomically(fixture.record_file(), "{"));
  const Error error = gc_now(fixture).error();
  CHECK(error.code() == Code::busy);
  CHECK(fixture.recorded().size() == 1);
  fixture.k.kill_namespace(kPod);
  REQUIRE(gc_now(fixture));
  CHECK(fixture.recorded().empty());
  CHECK(fixture.k.rdma_devices(node::kHost, kVf).value().front().port_guid.none());
}

TEST_CASE("GC goes on through failures and tells them all") {
  Fixture fixture;
  REQUIRE(fixture.add());
  REQUIRE(write_file_atomically(fixture.record_file("c0"), "{"));
  std::filesystem::create_directories(fixture.state.path() / "attachments" /
                                      fake::vf_address(0, 1).text());
  fixture.state.write("attachments/" + fake::vf_address(0, 1).text() + "/c9:net1.json", "{");
  const Error error = gc_now(fixture).error();
  CHECK(error.text().find("c0:net1") != std::string::npos);
  // The other VF was on the host, so its damaged record is gone.
  CHECK(fixture.recorded() ==
        std::vector<std::string>{"0000:3b:00.1/c0:net1", "0000:3b:00.1/c1:net1"});
}

TEST_CASE("IPAM's GC is told of those that live although the runtime does not list them") {
  Fixture fixture;
  fixture.install_ipam("[ $VERB = GC ] && cp $HERE/input $HERE/gc-input", R"("1.0.0","1.1.0")");
  REQUIRE(fixture.add());
  CHECK(gc_now(fixture, "blue", R"({"containerID":"c2","ifname":"net1"})"));
  const std::string told = read_file(fixture.programs.path() / "gc-input").value();
  const json::Value list = json::Value::parse(told)->at("cni.dev/valid-attachments").value();
  CHECK(list.text() ==
        R"([{"containerID":"c1","ifname":"net1"},{"containerID":"c2","ifname":"net1"}])");
}

TEST_CASE("a record that cannot be read for now is no damaged one") {
  Fixture fixture;
  REQUIRE(fixture.add());
  kill(fixture);
  std::string text = read_file(fixture.record_file()).value();
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 9");
  REQUIRE(write_file_atomically(fixture.record_file(), text));
  const fake::State given = fixture.k.state;
  CHECK(gc_now(fixture).error().code() == Code::unsupported);
  CHECK(fake::diff(given, fixture.k.state) == "");
  CHECK(fixture.recorded().size() == 1);
}

TEST_CASE("GC is forwarded only to an IPAM that knows it") {
  for (const bool knows : {true, false}) {
    Fixture fixture;
    fixture.install_ipam("", knows ? R"("1.0.0","1.1.0")" : R"("1.0.0")");
    CHECK(gc_now(fixture));
    CHECK(fixture.ipam_calls().size() == (knows ? 1 : 0));
  }
}

}  // namespace
}  // namespace ibpod::attach
