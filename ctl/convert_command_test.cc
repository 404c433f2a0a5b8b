#include "ctl/session.h"
#include "tests/support/temp_folder.h"

#include <iostream>
#include <sstream>

#include <doctest/doctest.h>
#include <sys/stat.h>

namespace ibpod::ctl {
namespace {

constexpr const char* kPassword = "swordfish";
// As `kubectl get --output json` prints the two objects of a site without a certificate.
constexpr const char* kObjects = R"({
  "apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""},
  "items": [
    {"apiVersion": "v1", "kind": "ConfigMap",
     "metadata": {"name": "ib-kubernetes-config", "namespace": "kube-system"},
     "data": {"DAEMON_PERIODIC_UPDATE": "5", "DAEMON_SM_PLUGIN": "ufm",
              "GUID_POOL_RANGE_END": "02:00:00:00:00:00:00:FF",
              "GUID_POOL_RANGE_START": "02:00:00:00:00:00:00:00"}},
    {"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
     "metadata": {"name": "ib-kubernetes-ufm-secret", "namespace": "kube-system"},
     "data": {"UFM_ADDRESS": "dWZtLmV4YW1wbGUuY29t", "UFM_CERTIFICATE": "", "UFM_HTTP_SCHEMA": "",
              "UFM_PASSWORD": "c3dvcmRmaXNo", "UFM_PORT": "ODQ0Mw==", "UFM_USERNAME": "YWRtaW4="}}]})";
constexpr const char* kOutput = R"({
  "engine": "ufm",
  "ufm": {
    "addresses": [
      "https://ufm.example.com:8443"
    ],
    "user": "admin",
    "passwordFile": "/etc/ibpod/ufm/password",
    "caFile": "/etc/ibpod/ufm/ca.crt"
  },
  "pkeys": [
    {
      "first": "0x1000",
      "last": "0x1fff",
      "use": "explicit"
    }
  ],
  "guids": [
    {
      "first": "06:00:00:00:00:00:00:01",
      "last": "06:00:00:00:00:00:ff:ff"
    }
  ],
  "defaults": {
    "ipoib": true
  }
}
)";

// A folder with files, and command lines that are typed there.
struct Site {
  TempFolder work;
  Path objects = work.write("objects.json", kObjects);

  Outcome type(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words{"convert", "ib-kubernetes"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    Session session;
    Outcome outcome = run(words, session);
    CHECK_MESSAGE((outcome.out + outcome.err).find(kPassword) == std::string::npos, outcome.err);
    CHECK((outcome.out + outcome.err).find("c3dvcm") == std::string::npos);
    return outcome;
  }
  Outcome type_all(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {objects, "--pkeys", "0x1000-0x1fff", "--guids",
                             "0x0600000000000001-0x060000000000ffff"});
    return type(more);
  }
  Path secrets() const { return work.path() / "secrets"; }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST_CASE("a site's objects become a configuration on standard output, and notes beside it") {
  const Site site;
  const Outcome outcome = site.type_all();
  CHECK(outcome.exit == 0);
  CHECK(outcome.out == kOutput);
  CHECK(has(outcome.err, "warning: UFM_CERTIFICATE is empty: ib-kubernetes does not verify"));
  CHECK(has(outcome.err, "warning: agents cannot reach ibpod-sm before \"listen\" and \"roles\""));
  CHECK(has(outcome.err, "note: no secret is written: put password into /etc/ibpod/ufm on the "));
  CHECK_FALSE(has(outcome.err, "guids: "));
  CHECK(list_folder(site.work.path()).value() == std::vector<std::string>{"objects.json"});
}

TEST_CASE("the two objects may be two files, or come on standard input") {
  const Site site;
  const auto objects = json::Value::parse(kObjects)->at("items")->elements().value();
  const Path first = site.work.write("config.json", objects[0].text());
  const Path second = site.work.write("secret.json", objects[1].text());
  const std::vector<std::string> ranges{"--pkeys", "0x1000-0x1fff", "--guids",
                                        "0x0600000000000001-0x060000000000ffff"};
  std::vector<std::string> words{first, second};
  words.insert(words.end(), ranges.begin(), ranges.end());
  CHECK(site.type(words).out == kOutput);
  std::istringstream input(objects[1].text());
  std::streambuf* const before = std::cin.rdbuf(input.rdbuf());
  words[1] = "-";
  CHECK(site.type(words).out == kOutput);
  std::cin.rdbuf(before);
  std::cin.clear();
}

TEST_CASE("without --guids the pool of ib-kubernetes is used, with a warning") {
  const Site site;
  const Outcome outcome = site.type({site.objects, "--pkeys", "0x1000", "--pkeys", "0x0007"});
  CHECK(outcome.exit == 0);
  CHECK(has(outcome.out, "\"last\": \"02:00:00:00:00:00:00:ff\""));
  CHECK(has(outcome.out, "\"first\": \"0x0007\""));
  CHECK(has(outcome.err, "warning: guids: 02:00:00:00:00:00:00:00 to 02:00:00:00:00:00:00:ff"));
}

TEST_CASE("--secrets writes the secrets, and never over others") {
  const Site site;
  const Outcome written = site.type_all({"--secrets", site.secrets()});
  CHECK(written.exit == 0);
  CHECK(written.out == kOutput);
  CHECK(has(written.err, "note: written in " + site.secrets().string() +
                             ": password; install them in /etc/ibpod/ufm on the machine"));
  CHECK(read_file(site.secrets() / "password").value() == kPassword);
  struct stat found {};
  REQUIRE(::stat((site.secrets() / "password").c_str(), &found) == 0);
  CHECK((found.st_mode & 07777U) == 0600);
  const Path other = site.work.write("secrets/password", "other");
  const Outcome refused = site.type_all({"--secrets", site.secrets()});
  CHECK(refused.exit == kFailed);
  CHECK(refused.out.empty());
  CHECK(has(refused.err, "error: --secrets: " + other.string() + " exists and is not overwritten"));
  CHECK(read_file(other).value() == "other");
}

TEST_CASE("if anything is wrong nothing is written") {
  const Site site;
  const Path wrong = site.work.write("wrong", "UFM_PORT=x\n");
  const struct {
    std::vector<std::string> words;
    int exit;
    std::string error;
  } table[] = {
      {{site.objects}, kUsage, "error: --pkeys: it is missing: give the P_Keys"},
      {{site.objects, "--pkeys", "0x7fff"}, kUsage, "error: --pkeys: \"0x7fff\": "},
      {{site.objects, "--pkeys", "0x1", "--guids", "1"}, kUsage, "error: --guids: \"1\": "},
      {{"/nonexistent", "--pkeys", "0x1"}, kFailed, "error: /nonexistent: "},
      {{site.objects, wrong, "--pkeys", "0x1"},
       kFailed,
       "error: " + wrong.string() + ": line 1: UFM_PORT: two values that differ"},
      {{wrong, "--pkeys", "0x1"}, kFailed, "UFM_PORT: expected a number from 0 to 65535, got"},
  };
  for (const auto& [words, exit, error] : table) {
    CAPTURE(error);
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.end(), {"--secrets", site.secrets()});
    const Outcome outcome = site.type(arguments);
    CHECK(outcome.exit == exit);
    CHECK(outcome.out.empty());
    CHECK_MESSAGE(has(outcome.err, error), outcome.err);
    CHECK_FALSE(path_exists(site.secrets()));
  }
  CHECK(site.type({"--pkeys", "0x1"}).exit > 100);
}

}  // namespace
}  // namespace ibpod::ctl
