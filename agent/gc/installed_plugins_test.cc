// The call of a plugin: a real process, in shell, on a path of its own.
#include "agent/gc/installed_plugins.h"

#include "lib/json/value.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::agent::gc {
namespace {

node::Record a_record() {
  node::Record record;
  record.plugin = "ib-sriov";
  record.attempt = "0badcafe";
  record.container_id = "c1";
  record.ifname = "net1";
  record.cni_args = "K8S_POD_NAME=a";
  record.cni_path = "/opt/cni/bin:/usr/lib/cni";
  record.configuration = R"({"cniVersion":"1.0.0","name":"blue","type":"ib-sriov"})";
  return record;
}

struct Fixture {
  TempFolder folder;
  Duration timeout{20'000};

  void install(const std::string& script, const std::string& plugin = "ib-sriov") const {
    folder.script(plugin, script);
  }
  InstalledPlugins plugins() const {
    return InstalledPlugins({folder.path(), "", "/state", timeout});
  }
  // The error of a DEL for which the plugin runs this script.
  Error refusal(const std::string& script) const {
    install(script);
    return plugins().del(a_record()).error();
  }
  std::string said(const std::string& file) const {
    return read_file(folder.path() / file).value();
  }
  std::string step(const std::string& verb) const {
    return verb + " by " + (folder.path() / "ib-sriov").string() + ": ";
  }
};

TEST_CASE("DEL is called as the ADD was, for this attempt and without a namespace") {
  const Fixture fixture;
  fixture.install(
      "HERE=${0%/*}; cat > $HERE/input; env | grep -E '^(CNI|IBPOD)_' | sort > $HERE/env");
  REQUIRE(fixture.plugins().del(a_record()));
  CHECK(fixture.said("input") == a_record().configuration);
  CHECK(fixture.said("env") ==
        "CNI_ARGS=K8S_POD_NAME=a\nCNI_COMMAND=DEL\nCNI_CONTAINERID=c1\nCNI_IFNAME=net1\n"
        "CNI_NETNS=\nCNI_PATH=/opt/cni/bin:/usr/lib/cni\nIBPOD_ATTEMPT=0badcafe\n"
        "IBPOD_STATE_DIR=/state\n");
}

TEST_CASE("a damaged record is the plugin's GC's, with all others as valid") {
  const Fixture fixture;
  fixture.install("HERE=${0%/*}; cat > $HERE/input; echo $CNI_COMMAND > $HERE/verb");
  REQUIRE(
      fixture.plugins().collect({"0000:3b:00.1", "c1", "net1"}, {{"0000:3b:00.2", "c2", "net1"}}));
  CHECK(fixture.said("verb") == "GC\n");
  CHECK(fixture.said("input") ==
        R"({"cniVersion":"1.1.0","name":"ibpod-agent","type":"ib-sriov",)"
        R"("cni.dev/valid-attachments":[{"containerID":"c2","ifname":"net1"}]})");
}

TEST_CASE("a folder of a child is the other plugin's") {
  const Fixture fixture;
  fixture.install("echo other > ${0%/*}/who", "ipoib");
  REQUIRE(fixture.plugins().collect({"ibpod0123456789", "c1", "net1"}, {}));
  CHECK(fixture.said("who") == "other\n");
}

TEST_CASE("a plugin that is not there is named with its path") {
  const Fixture fixture;
  const Error error = fixture.plugins().del(a_record()).error();
  CHECK(error.code() == Code::not_found);
  CHECK(error.text() == fixture.step("DEL") + "run " +
                            (fixture.folder.path() / "ib-sriov").string() +
                            ": exec: No such file or directory");
}

TEST_CASE("a record cannot lead out of the plugins' folder") {
  const Fixture fixture;
  for (const char* plugin : {"", ".", "..", "../sh", "/bin/sh"}) {
    node::Record record = a_record();
    record.plugin = plugin;
    CHECK(fixture.plugins().del(record).error().code() == Code::invalid);
  }
}

TEST_CASE("a plugin that fails is quoted: its complaint, or what it wrote to standard error") {
  const Fixture fixture;
  const std::string complaint = R"(echo '{"code":103,"msg":"no","details":"not now"}')";
  CHECK(fixture.refusal(complaint + "; echo log >&2; exit 1").text() ==
        fixture.step("DEL") + "no; not now (code 103)");
  CHECK(fixture.refusal(complaint + "; echo log >&2; exit 1").details() == "log");
  CHECK(fixture.refusal("echo broken >&2; exit 3").text() ==
        fixture.step("DEL") + "failed with exit code 3: broken");
  CHECK(fixture.refusal("exit 4").text() ==
        fixture.step("DEL") + "failed with exit code 4 and no output");
  CHECK(fixture.refusal("kill -KILL $$").text() ==
        fixture.step("DEL") + "failed with exit code 137 and no output");
}

TEST_CASE("a complaint counts whatever the exit code says, and \"later\" is later") {
  const Fixture fixture;
  CHECK(fixture.refusal(R"(echo '{"code":5,"msg":"disk full"}')").text() ==
        fixture.step("DEL") + "disk full (code 5)");
  CHECK(fixture.refusal(R"(echo '{"code":11,"msg":"busy"}'; exit 1)").code() == Code::unavailable);
}

TEST_CASE("a plugin that does not finish in time is killed") {
  Fixture fixture;
  fixture.timeout = Duration(150);
  const Error error = fixture.refusal("sleep 100");
  CHECK(error.code() == Code::unavailable);
  CHECK(error.text().ends_with("timed out and was killed"));
}

TEST_CASE("a plugin's mount namespace that is not there is an error of its own") {
  const Fixture fixture;
  fixture.install("");
  InstalledPlugins plugins({fixture.folder.path(), "/nowhere", "/state", fixture.timeout});
  CHECK(
      plugins.del(a_record()).error().text().ends_with("open /nowhere: No such file or directory"));
}

TEST_CASE("children without a record are removed by a GC that names all others as valid") {
  const Fixture fixture;
  fixture.install("HERE=${0%/*}; cat > $HERE/input; echo $CNI_COMMAND > $HERE/verb", "ipoib");
  REQUIRE(fixture.plugins().remove_strays({{"0000:3b:00.2", "c2", "net1"}}));
  CHECK(fixture.said("verb") == "GC\n");
  CHECK(fixture.said("input").find(R"({"containerID":"c2","ifname":"net1"})") != std::string::npos);
}

}  // namespace
}  // namespace ibpod::agent::gc
