#include "ctl/convert/ib_kubernetes.h"

#include "tests/support/test_ca.h"

#include <doctest/doctest.h>

namespace ibpod::ctl::convert {
namespace {

// A site's variables with changes; an empty value is as a missing one.
Variables with(const Variables& changes) {
  Variables variables{{"DAEMON_SM_PLUGIN", "ufm"},
                      {"UFM_USERNAME", "admin"},
                      {"UFM_PASSWORD", "swordfish"},
                      {"UFM_ADDRESS", "ufm.example.com"}};
  for (const auto& [name, value] : changes) variables[name] = value;
  return variables;
}

Result<IbKubernetes> read(const Variables& changes) { return read_ib_kubernetes(with(changes)); }

bool warns(const IbKubernetes& read, const std::string& text) {
  for (const std::string& warning : read.warnings)
    if (warning.find(text) != warning.npos) return true;
  return false;
}

TEST_CASE("the values are those that ib-kubernetes uses, its defaults too") {
  const auto least = read({});
  REQUIRE_MESSAGE(least, least.error().text());
  CHECK(least->host == "ufm.example.com");
  CHECK(least->port == 443);
  CHECK(least->user == "admin");
  CHECK(least->password == "swordfish");
  CHECK(least->guids.first == ib::Guid(0x0200000000000000));
  CHECK(least->guids.last == ib::Guid(0x02ffffffffffffff));
  const auto empty = read({{"UFM_PORT", ""},
                           {"UFM_HTTP_SCHEMA", ""},
                           {"UFM_CERTIFICATE", ""},
                           {"GUID_POOL_RANGE_START", ""},
                           {"GUID_POOL_RANGE_END", ""},
                           {"DAEMON_PERIODIC_UPDATE", ""}});
  REQUIRE_MESSAGE(empty, empty.error().text());
  CHECK(empty->port == least->port);
  CHECK(empty->guids == least->guids);
  CHECK(empty->warnings == least->warnings);
}

TEST_CASE("credentials may have letters beyond ASCII") {
  const auto made = read({{"UFM_USERNAME", "jos\u00e9"}, {"UFM_PASSWORD", "espad\u00f3n"}});
  REQUIRE_MESSAGE(made, made.error().text());
  CHECK(made->user == "jos\u00e9");
  CHECK(made->password == "espad\u00f3n");
}

TEST_CASE("each variable comes to its place") {
  const struct {
    Variables changes;
    std::string host;
    uint16_t port;
    uint64_t first, last;
  } table[] = {
      {{{"UFM_ADDRESS", "UFM-1"}}, "UFM-1", 443, 2ULL << 56, 0x02ffffffffffffff},
      {{{"UFM_PORT", "8443"}}, "ufm.example.com", 8443, 2ULL << 56, 0x02ffffffffffffff},
      {{{"UFM_PORT", "0"}}, "ufm.example.com", 443, 2ULL << 56, 0x02ffffffffffffff},
      {{{"UFM_HTTP_SCHEMA", "HTTPS"}, {"UFM_ADDRESS", "10.0.0.1"}},
       "10.0.0.1",
       443,
       2ULL << 56,
       0x02ffffffffffffff},
      {{{"UFM_ADDRESS", "[fd00::1]"}}, "[fd00::1]", 443, 2ULL << 56, 0x02ffffffffffffff},
      {{{"UFM_ADDRESS", "fd00::1"}}, "[fd00::1]", 443, 2ULL << 56, 0x02ffffffffffffff},
      {{{"GUID_POOL_RANGE_START", "02-00-00-00-00-00-00-01"},
        {"GUID_POOL_RANGE_END", "0200.0000.0000.00ff"},
        {"DAEMON_PERIODIC_UPDATE", "5"},
        {"DAEMON_SM_PLUGIN_PATH", "/plugins"},
        {"K8S_NODE", "n1"}},
       "ufm.example.com",
       443,
       0x0200000000000001,
       0x02000000000000ff},
  };
  for (const auto& [changes, host, port, first, last] : table) {
    CAPTURE(changes.begin()->first);
    const auto made = read(changes);
    REQUIRE_MESSAGE(made, made.error().text());
    CHECK(made->host == host);
    CHECK(made->port == port);
    CHECK(made->guids.first == ib::Guid(first));
    CHECK(made->guids.last == ib::Guid(last));
    CHECK(made->warnings.size() == 1);  // that there is no certificate
  }
}

TEST_CASE("the certificate is PEM, or base64 of that") {
  const TestCa ca;
  const auto plain = read({{"UFM_CERTIFICATE", ca.certificate()}});
  REQUIRE_MESSAGE(plain, plain.error().text());
  CHECK(plain->certificate == ca.certificate());
  CHECK(plain->warnings.empty());
  const auto chain = read({{"UFM_CERTIFICATE", ca.certificate() + ca.certificate()}});
  REQUIRE(chain);
  CHECK(chain->certificate == ca.certificate() + ca.certificate());
}

TEST_CASE("what is not as safe there, or is not converted, is a warning with a remedy") {
  const struct {
    Variables changes;
    std::string warning;
  } table[] = {
      {{{"UFM_CERTIFICATE", " \n"}}, "UFM_CERTIFICATE is empty: ib-kubernetes does not verify"},
      {{{"UFM_HTTP_SCHEMA", "http"}}, "the file has port 443: check that UFM serves HTTPS there"},
      {{{"UFM_HTTP_SCHEMA", "http"}, {"UFM_PORT", "8080"}}, "has port 443 instead of 8080: check"},
      {{{"DEFAULT_LIMITED_PARTITION", "0x1"}, {"PATH", "/bin"}},
       "ib-kubernetes does not read it: DEFAULT_LIMITED_PARTITION, PATH"},
  };
  for (const auto& [changes, warning] : table) {
    CAPTURE(warning);
    const auto made = read(changes);
    REQUIRE_MESSAGE(made, made.error().text());
    CHECK(made->port == 443);
    CHECK(warns(*made, warning));
  }
}

// A change of a site's variables, and what its error says.
struct Wrong {
  Variables changes;
  std::string error;
};

void expect_refused(const std::vector<Wrong>& table) {
  for (const auto& [changes, expected] : table) {
    CAPTURE(changes.begin()->first);
    CAPTURE(changes.begin()->second.substr(0, 40));
    const auto refused = read(changes);
    REQUIRE_FALSE(refused);
    const std::string& error = refused.error().text();
    CHECK(refused.error().code() == Code::invalid);
    CHECK_MESSAGE(error.find(expected) != error.npos, error);
    for (const char* secret : {"swordf", "c3dvcm", "BEGIN"})
      CHECK_MESSAGE(error.find(secret) == error.npos, error);
  }
}

TEST_CASE("a wrong name, or value of the daemon, is refused with what would be right") {
  expect_refused({
      {{{"DAEMON_SM_PLUGIN", ""}}, "DAEMON_SM_PLUGIN: it is missing: pass the ConfigMap"},
      {{{"DAEMON_SM_PLUGIN", "noop"}},
       "DAEMON_SM_PLUGIN: expected ufm, the only plugin that is converted, got \"noop\""},
      {{{"DAEMON_PERIODIC_UPDATE", "0"}}, "DAEMON_PERIODIC_UPDATE: expected at least 1, got \"0\""},
      {{{"DAEMON_PERIODIC_UPDATE", "5s"}}, "DAEMON_PERIODIC_UPDATE: expected a number"},
      {{{"GUID_POOL_RANGE_START", "02:00"}},
       "GUID_POOL_RANGE_START: expected a GUID such as 02:00:00:00:00:00:00:00, got \"02:00\""},
      {{{"GUID_POOL_RANGE_START", "00:00:00:00:00:00:00:00"}}, "GUID_POOL_RANGE_START: expected"},
      {{{"GUID_POOL_RANGE_END", "ff:ff:ff:ff:ff:ff:ff:ff"}}, "GUID_POOL_RANGE_END: expected"},
      {{{"GUID_POOL_RANGE_END", "01:ff:ff:ff:ff:ff:ff:ff"}},
       "GUID_POOL_RANGE_END: expected at least 02:00:00:00:00:00:00:00 (GUID_POOL_RANGE_START), "
       "got 01:ff:ff:ff:ff:ff:ff:ff"},
      {{{"UFM_USER", "admin"}}, "UFM_USER: ib-kubernetes has no such variable, expected one of"},
      {{{"UFM_ADRESS", "x"}},
       "UFM_ADRESS: ib-kubernetes has no such variable; did you mean \"UFM_ADDRESS\"?"},
      {{{"GUID_POOL_START", "x"}}, "GUID_POOL_START: ib-kubernetes has no such variable"},
  });
}

TEST_CASE("a wrong address of UFM is refused with what would be right") {
  const std::string host = "expected a host name or an IP address, without scheme, port and path";
  expect_refused({
      {{{"UFM_ADDRESS", ""}}, "UFM_ADDRESS: it is missing or empty"},
      {{{"UFM_ADDRESS", "https://ufm"}}, "UFM_ADDRESS: " + host + ", got \"https://ufm\""},
      {{{"UFM_ADDRESS", "ufm:443"}}, "UFM_ADDRESS: " + host},
      {{{"UFM_ADDRESS", "ufm/x"}}, "UFM_ADDRESS: " + host},
      {{{"UFM_ADDRESS", "10.0.0.256"}}, "UFM_ADDRESS: " + host},
      {{{"UFM_ADDRESS", "ufm..example"}}, "UFM_ADDRESS: " + host},
      {{{"UFM_ADDRESS", "[10.0.0.1]"}}, "UFM_ADDRESS: " + host},
      {{{"UFM_ADDRESS", std::string(254, 'a')}}, "UFM_ADDRESS: " + host},
      {{{"UFM_ADDRESS", "admin:swordfish@ufm"}}, "UFM_ADDRESS: expected a host name"},
      {{{"UFM_PORT", "65536"}}, "UFM_PORT: expected a number from 0 to 65535, got \"65536\""},
      {{{"UFM_PORT", "-1"}}, "UFM_PORT: expected a number"},
      {{{"UFM_PORT", "443 "}}, "UFM_PORT: expected a number"},
      {{{"UFM_HTTP_SCHEMA", "ftp"}}, "UFM_HTTP_SCHEMA: expected http or https, got \"ftp\""},
  });
}

TEST_CASE("wrong credentials and certificates are refused, and secrets are not quoted") {
  const TestCa ca;
  expect_refused({
      {{{"UFM_USERNAME", ""}}, "UFM_USERNAME: it is missing or empty"},
      {{{"UFM_USERNAME", "a:b"}}, "UFM_USERNAME: expected UTF-8 without colons"},
      {{{"UFM_USERNAME", std::string(257, 'a')}}, "UFM_USERNAME: expected at most 256 bytes"},
      {{{"UFM_USERNAME", "a\x01"}}, "UFM_USERNAME: expected UTF-8 without colons"},
      {{{"UFM_USERNAME", "\xff"}}, "UFM_USERNAME: expected UTF-8 without colons"},
      {{{"UFM_USERNAME", "admin\n"}}, "UFM_USERNAME: it ends with a line break"},
      {{{"UFM_PASSWORD", ""}}, "UFM_PASSWORD: it is missing or empty"},
      {{{"UFM_PASSWORD", "swordfish\n"}}, "UFM_PASSWORD: it ends with a line break: encode"},
      {{{"UFM_PASSWORD",
         "sword\x7f"
         "fish"}},
       "UFM_PASSWORD: expected text without control characters"},
      {{{"UFM_CERTIFICATE", "/etc/ufm.crt"}}, "UFM_CERTIFICATE: expected certificates (PEM)"},
      {{{"UFM_CERTIFICATE", "c3dvcmRmaXNo"}}, "UFM_CERTIFICATE: expected certificates (PEM)"},
      {{{"UFM_CERTIFICATE", ca.issue({"ufm"}).key}}, "UFM_CERTIFICATE: it has a private key"},
      {{{"UFM_CERTIFICATE", ca.certificate() + "-----BEGIN CERTIFICATE-----\nAAAA\n"}},
       "UFM_CERTIFICATE: expected certificates (PEM)"},
  });
}

TEST_CASE("all that is wrong is reported at once") {
  const auto refused = read({{"UFM_PORT", "x"},
                             {"UFM_ADDRESS", "a b"},
                             {"UFM_USERNAME", ""},
                             {"UFM_PASSWORD", ""},
                             {"GUID_POOL_RANGE_END", "x"},
                             {"DAEMON_SM_PLUGIN", "x"},
                             {"UFM_CERTIFICATE", "x"}});
  REQUIRE_FALSE(refused);
  for (const char* name : {"UFM_PORT", "UFM_ADDRESS", "UFM_USERNAME", "UFM_PASSWORD",
                           "GUID_POOL_RANGE_END", "DAEMON_SM_PLUGIN", "UFM_CERTIFICATE"})
    CHECK_MESSAGE(refused.error().text().find(std::string(name) + ": ") != std::string::npos,
                  refused.error().text());
}

}  // namespace
}  // namespace ibpod::ctl::convert
