#include "lib/cni/ipam.h"

#include "lib/cni/errors.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::cni {
namespace {

const Deadline kLong = Deadline::in(Duration(60000));
constexpr const char* kSpeaks =
    R"(echo '{"cniVersion":"1.1.0","supportedVersions":["0.4.0","1.0.0"]}')";

// A shell script in the place of an IPAM plugin.
class Script {
 public:
  explicit Script(const std::string& text) { folder_.script("fake", text); }

  Ipam ipam() const {
    return Ipam::find(
               {"fake",
                {"/nonexistent", folder_.path()},
                {{"CNI_IFNAME", "net1"}, {"PATH", "/usr/bin:/bin"}, {"CNI_COMMAND", "wrong"}},
                R"({"name":"n","cniVersion":"1.0.0"})",
                Version{1, 0, 0}})
        .value();
  }
  const Path& folder() const { return folder_.path(); }

 private:
  TempFolder folder_;
};

TEST_CASE("a plugin is found by its name in the first folder that has it") {
  const TempFolder first;
  const TempFolder second;
  second.script("fake", "exit 0");
  first.write("fake", "not to be run");
  std::filesystem::create_directory(first.path() / "folder");
  const auto find = [&](const std::string& type) {
    return Ipam::find({type, {first.path(), second.path()}, {}, "", kNewest});
  };
  CHECK(find("fake"));
  const Error missing = find("none").error();
  CHECK(missing.code() == Code::not_found);
  CHECK(missing.reported() == kIpamFailed);
  CHECK(missing.text() == "ipam none: no such program; looked in: " + first.path().string() + ", " +
                              second.path().string());
  CHECK(find("folder").error().code() == Code::not_found);
  CHECK(Ipam::find({"fake", {}, {}, "", kNewest}).error().text() ==
        "ipam fake: no such program; looked in: nowhere, as CNI_PATH is empty");
}

TEST_CASE("a type that is no plain name is refused") {
  for (const char* type : {"", ".", "..", "../fake", "/bin/sh", "a/b"}) {
    CAPTURE(type);
    CHECK(Ipam::find({type, {"/"}, {}, "", kNewest}).error().code() == Code::invalid);
  }
}

TEST_CASE("each verb hands over the configuration and the environment of the call") {
  const Script script(R"(cat > "$(dirname "$0")/input"; env > "$(dirname "$0")/environment")");
  const auto seen = [&](const char* file) { return read_file(script.folder() / file).value(); };
  const Ipam ipam = script.ipam();
  CHECK(ipam.del(kLong));
  CHECK(seen("environment").find("CNI_COMMAND=DEL\n") != std::string::npos);
  CHECK(seen("environment").find("CNI_IFNAME=net1\n") != std::string::npos);
  CHECK(seen("environment").find("wrong") == std::string::npos);
  CHECK(seen("input") == R"({"name":"n","cniVersion":"1.0.0"})");
  CHECK(ipam.check(kLong));
  CHECK(seen("environment").find("CNI_COMMAND=CHECK\n") != std::string::npos);
  CHECK(ipam.gc(kLong));
  CHECK(seen("environment").find("CNI_COMMAND=GC\n") != std::string::npos);
  CHECK(ipam.status(kLong));
  CHECK(seen("environment").find("CNI_COMMAND=STATUS\n") != std::string::npos);
  CHECK_FALSE(ipam.versions(kLong));
  CHECK(seen("environment").find("CNI_COMMAND=VERSION\n") != std::string::npos);
  CHECK(seen("input") == R"({"cniVersion":"1.1.0"})");
}

TEST_CASE("the versions a plugin speaks are compared with the configuration's") {
  CHECK(text(Script(kSpeaks).ipam().versions(kLong).value()) == "0.4.0, 1.0.0");
  CHECK(Script(kSpeaks).ipam().check_version(kLong));
  const Script old(R"(echo '{"cniVersion":"0.4.0","supportedVersions":["0.3.1","0.4.0","next"]}')");
  const Error refused = old.ipam().check_version(kLong).error();
  CHECK(refused.code() == Code::unsupported);
  CHECK(failure_of(refused).code == kIncompatibleVersion);
  CHECK(refused.text() ==
        "ipam fake: it supports 0.3.1, 0.4.0, but not the configuration's cniVersion 1.0.0");
}

TEST_CASE("a plugin is asked once which versions it speaks, unless it has not answered") {
  const Script script("echo x >> \"$(dirname \"$0\")/asked\"; " + std::string(kSpeaks));
  const auto asked = [&] { return read_file(script.folder() / "asked").value(); };
  const Ipam ipam = script.ipam();
  CHECK(ipam.check_version(kLong));
  CHECK(text(ipam.versions(kLong).value()) == "0.4.0, 1.0.0");
  CHECK(ipam.check_version(kLong));
  CHECK(asked() == "x\n");
  const Script broken("echo x >> \"$(dirname \"$0\")/asked\"; exit 1");
  const Ipam silent = broken.ipam();
  CHECK_FALSE(silent.versions(kLong));
  CHECK_FALSE(silent.check_version(kLong));
  CHECK(read_file(broken.folder() / "asked").value() == "x\nx\n");
}

TEST_CASE("plugins from before the list of versions are understood as libcni does") {
  const Script unaware(R"(echo '{"code":100,"msg":"unknown CNI_COMMAND: VERSION"}'; exit 1)");
  CHECK(text(unaware.ipam().versions(kLong).value()) == "0.1.0");
  const Script bare(R"(echo '{"cniVersion":"0.2.0"}')");
  CHECK(text(bare.ipam().versions(kLong).value()) == "0.1.0, 0.2.0");
  const Script listless(R"(echo '{"cniVersion":"0.3.0"}')");
  CHECK(listless.ipam().versions(kLong).error().text() ==
        "ipam fake: VERSION: the document: the key \"supportedVersions\" is missing");
  CHECK(Script("echo rubbish").ipam().versions(kLong).error().details() == "rubbish");
  CHECK(Script("exit 1").ipam().versions(kLong).error().reported() == kIpamFailed);
}

TEST_CASE("a result is read in the version it was printed in") {
  const auto address_of = [](const std::string& output) {
    const AddResult result = Script("echo '" + output + "'").ipam().add(kLong).value();
    return result.ips.empty() ? "none" : result.ips[0].address.text();
  };
  CHECK(address_of(R"({"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/8"}],"dns":{}})") ==
        "10.0.0.1/8");
  CHECK(address_of(R"({"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.2/8"}})") == "10.0.0.2/8");
  CHECK(address_of(R"({"ips":[{"address":"10.0.0.3/8"}]})") == "10.0.0.3/8");
  CHECK(address_of(R"({"cniVersion":"","ips":[{"address":"10.0.0.4/8"}]})") == "10.0.0.4/8");
  CHECK(address_of("null") == "none");
}

TEST_CASE("a result that cannot be read is an IPAM failure that shows it") {
  const auto error_of = [](const char* script) { return Script(script).ipam().add(kLong).error(); };
  CHECK(error_of("true").text().starts_with("ipam fake: its result: JSON: parse error"));
  const Error bad = error_of(R"(echo '{"ips":[{"address":"x"}]}')");
  CHECK(bad.text() == "ipam fake: its result: ips[0].address: \"x\" is not an IP address");
  CHECK(bad.details() == R"({"ips":[{"address":"x"}]})");
  CHECK(failure_of(bad).code == kIpamFailed);
  CHECK(error_of(R"(echo '{"cniVersion":7}')").text() ==
        "ipam fake: its result: cniVersion: expected a string, got the number 7");
}

TEST_CASE("a plugin's own error is passed on, with its code and what it wrote besides") {
  const struct {
    const char* script;
    const char* text;
    int code;
  } table[] = {
      {R"(echo '{"code":7,"msg":"no range","details":"in set 0"}'; echo why >&2; exit 1)",
       "ipam fake: no range; in set 0 (code 7)", 105},
      {R"(echo '{"code":11,"msg":"pool busy"}'; echo why >&2; exit 1)",
       "ipam fake: pool busy (code 11)", 11},
      {R"(echo '{"code":50,"msg":"no server"}'; echo why >&2; exit 1)",
       "ipam fake: no server (code 50)", 11},
      {R"(echo '{"msg":"odd"}'; echo why >&2; exit 1)", "ipam fake: odd (code 0)", 105},
      {R"(echo '{"code":"x","details":"odd"}'; echo why >&2; exit 1)", "ipam fake: odd (code 0)",
       105},
      {"echo why >&2; exit 3", "ipam fake: failed with exit code 3: why", 105},
      {"echo '{}'; echo why >&2; exit 3", "ipam fake: failed with exit code 3: why", 105},
  };
  for (const auto& row : table) {
    const auto& [script, text, code] = row;
    CAPTURE(row.script);
    const Error error = Script(script).ipam().add(kLong).error();
    CHECK(error.text() == text);
    CHECK(error.details() == "why");
    CHECK(failure_of(error).code == code);
    CHECK(Script(script).ipam().del(kLong).error().text() == text);
  }
  CHECK(Script("echo plain; exit 1").ipam().add(kLong).error().text() ==
        "ipam fake: failed with exit code 1: plain");
  CHECK(Script("exit 1").ipam().add(kLong).error().text() ==
        "ipam fake: failed with exit code 1 and no output");
}

TEST_CASE("of a long complaint the last lines are quoted") {
  const Error error = Script("seq 1 1000 >&2; exit 1").ipam().add(kLong).error();
  CHECK(error.text().size() < 1200);
  CHECK(error.text().starts_with("ipam fake: failed with exit code 1: ... "));
  CHECK(error.text().ends_with("\n999\n1000"));
}

TEST_CASE("of a long error in JSON the first part is quoted") {
  const Error error = Script(R"(printf '{"code":7,"msg":"no range %0100000d"}' 0; exit 1)")
                          .ipam()
                          .add(kLong)
                          .error();
  CHECK(error.text().size() < 1200);
  CHECK(error.text().starts_with("ipam fake: no range 000"));
  CHECK(error.text().ends_with("000 ... (code 7)"));
}

TEST_CASE("a plugin that is too slow is killed, and may be tried again") {
  const Error error = Script("sleep 100").ipam().add(Deadline::in(Duration(100))).error();
  CHECK(error.code() == Code::unavailable);
  CHECK(failure_of(error).code == kTryAgainLater);
  CHECK(error.text().ends_with("/fake: timed out and was killed"));
}

TEST_CASE("a failure of STATUS is 50, or 51 where the plugin says so") {
  const auto code_of = [](const char* script) {
    return failure_of(Script(script).ipam().status(kLong).error()).code;
  };
  CHECK(code_of(R"(echo '{"code":50,"msg":"x"}'; exit 1)") == 50);
  CHECK(code_of(R"(echo '{"code":51,"msg":"x"}'; exit 1)") == 51);
  CHECK(code_of(R"(echo '{"code":999,"msg":"x"}'; exit 1)") == 50);
  CHECK(code_of("exit 1") == 50);
}

}  // namespace
}  // namespace ibpod::cni
