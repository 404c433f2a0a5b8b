#include "sm/telemetry/listener_telemetry.h"

#include "tests/support/temp_folder.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod::sm::telemetry {
namespace {

struct Bed {
  TempFolder folder;
  log::Log log{log::Level::info};
  Telemetry report{log};
  ListenerTelemetry listener{report};

  Bed() { REQUIRE(log.open(folder.path() / "log")); }
  // The lines since the last call.
  std::string logged() {
    const std::string all = read_file(folder.path() / "log").value();
    const std::string fresh = all.substr(read);
    read = all.size();
    return fresh;
  }
  bool shows(const std::string& line) {
    return report.metrics().text().find("\n" + line + "\n") != std::string::npos;
  }
  size_t read = 0;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Telemetry with a clock of its own.
struct Limited : Bed {
  size_t lines(const std::string& part) {
    const std::string all = logged();
    size_t found = 0;
    for (size_t at = 0; (at = all.find(part, at)) != all.npos; ++at) ++found;
    return found;
  }
  LineLimit::Time now{std::chrono::seconds(100)};
  Telemetry limited{log, [this] { return now; }};
  ListenerTelemetry closing{limited};
};

TEST_CASE("a certificate that cannot be used is logged once, and counted until it is usable") {
  Bed bed;
  ListenerStatus now;
  now.expires = std::chrono::system_clock::time_point(std::chrono::seconds(2'000'000'000));
  now.refused = 3;
  now.no_slot = 4;
  bed.listener.status(now);
  CHECK(bed.logged().empty());
  CHECK(bed.shows("ibpod_sm_certificate_usable 1"));
  CHECK(bed.shows("ibpod_sm_certificate_expires_seconds 2000000000"));
  CHECK(bed.shows("ibpod_sm_refused_connections_total 3"));
  CHECK(bed.shows("ibpod_sm_starved_connections_total 4"));
  now.certificate = Error(Code::invalid, "/tls.crt has expired");
  bed.listener.status(now);
  const std::string line = bed.logged();
  CHECK(has(line, "warning"));
  CHECK(has(line, "certificate: /tls.crt has expired"));
  CHECK(bed.shows("ibpod_sm_certificate_usable 0"));
  bed.listener.status(now);
  CHECK(bed.logged().empty());
  now.certificate = ok();
  bed.listener.status(now);
  CHECK(has(bed.logged(), "resolved"));
  CHECK(bed.shows("ibpod_sm_tls_key_exposed 0"));
  now.key = Error(Code::denied, "/tls.key has mode 0644");
  bed.listener.status(now);
  CHECK(has(bed.logged(), "private key of listen: /tls.key has mode 0644"));
  CHECK(bed.shows("ibpod_sm_tls_key_exposed 1"));
  now.key = ok();
  bed.listener.status(now);
  CHECK(has(bed.logged(), "resolved"));
}

TEST_CASE_FIXTURE(
    Limited, "closed connections are counted by cause, and logged within the limit of the caller") {
  for (int n = 0; n < 30; ++n) closing.connection_closed("10.0.0.1", "node n1", "rate");
  closing.connection_closed("10.0.0.2", "", "handshake");
  const std::string text = logged();
  CHECK(has(text, "connection of node n1 at 10.0.0.1 closed: limit rate exceeded"));
  CHECK(has(text, "connection of 10.0.0.2 closed: limit handshake exceeded"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 11);
  CHECK(has(limited.metrics().text(), "ibpod_sm_cut_connections_total{cause=\"rate\"} 30"));
}

TEST_CASE_FIXTURE(Limited, "failed handshakes are counted by reason, and so many lines a second") {
  for (int n = 0; n < 30; ++n) closing.failed_handshake("certificate verify failed");
  CHECK(lines("TLS handshake failed: certificate verify failed: a client's certificate has "
              "expired, is not yet valid, or is signed by another CA") == 10);
  closing.failed_handshake("peer did not return a certificate");
  closing.failed_handshake("wrong version number");
  closing.failed_handshake("tlsv1 alert bad certificate");
  const std::string shown = limited.metrics().text();
  CHECK(has(shown, "ibpod_sm_failed_handshakes_total{reason=\"certificate\"} 30"));
  CHECK(has(shown, "ibpod_sm_failed_handshakes_total{reason=\"noCertificate\"} 1"));
  CHECK(has(shown, "ibpod_sm_failed_handshakes_total{reason=\"other\"} 2"));
}

}  // namespace
}  // namespace ibpod::sm::telemetry
