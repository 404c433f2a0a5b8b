#include "sm/report/report.h"

#include "tests/support/temp_folder.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

struct Bed {
  TempFolder folder;
  log::Log log{log::Level::info};
  Report report{log};

  Bed() { REQUIRE(log.open(folder.path() / "log")); }
  // Since the last call.
  std::string told() {
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

TEST_CASE("a certificate that cannot be used is told once, and counted until it is well again") {
  Bed bed;
  Report::Listener listener;
  listener.expires = std::chrono::system_clock::time_point(std::chrono::seconds(2'000'000'000));
  listener.refused = 3;
  listener.starved = 4;
  bed.report.listener(listener);
  CHECK(bed.told().empty());
  CHECK(bed.shows("ibpod_sm_certificate_usable 1"));
  CHECK(bed.shows("ibpod_sm_certificate_expires_seconds 2000000000"));
  CHECK(bed.shows("ibpod_sm_refused_connections_total 3"));
  CHECK(bed.shows("ibpod_sm_starved_connections_total 4"));
  listener.certificate = Error(Code::invalid, "/tls.crt has expired");
  bed.report.listener(listener);
  const std::string told = bed.told();
  CHECK(has(told, "warning"));
  CHECK(has(told, "certificate: /tls.crt has expired"));
  CHECK(bed.shows("ibpod_sm_certificate_usable 0"));
  bed.report.listener(listener);
  CHECK(bed.told().empty());
  listener.certificate = ok();
  bed.report.listener(listener);
  CHECK(has(bed.told(), "well again"));
  CHECK(bed.shows("ibpod_sm_tls_key_exposed 0"));
  listener.key = Error(Code::denied, "/tls.key has mode 0644");
  bed.report.listener(listener);
  CHECK(has(bed.told(), "private key of listen: /tls.key has mode 0644"));
  CHECK(bed.shows("ibpod_sm_tls_key_exposed 1"));
  listener.key = ok();
  bed.report.listener(listener);
  CHECK(has(bed.told(), "well again"));
}

TEST_CASE("cut connections are counted by cause, and named once a minute") {
  Bed bed;
  for (int n = 0; n < 3; ++n) bed.report.cut("10.0.0.1", "system:node:n1", "rate");
  bed.report.cut("10.0.0.2", "", "handshake");
  const std::string told = bed.told();
  CHECK(has(told, "connection of system:node:n1 at 10.0.0.1 cut: rate"));
  CHECK(has(told, "connection of 10.0.0.2 cut: handshake"));
  CHECK(std::count(told.begin(), told.end(), '\n') == 2);
  CHECK(bed.shows("ibpod_sm_cut_connections_total{cause=\"rate\"} 3"));
}

TEST_CASE("what is like a line of this minute is counted for the next, and kinds are bounded") {
  OncePerMinute lines;
  const OncePerMinute::Time now{};
  CHECK(lines.due("a", now) == 0);
  CHECK_FALSE(lines.due("a", now));
  CHECK_FALSE(lines.due("a", now + std::chrono::seconds(59)));
  CHECK(lines.due("a", now + std::chrono::seconds(60)) == 2);
  for (int n = 0; n < 999; ++n) CHECK(lines.due("b" + std::to_string(n), now));
  CHECK_FALSE(lines.due("c", now));
  CHECK(lines.due("c", now + std::chrono::seconds(60)) == 0);
}

TEST_CASE("a stranger leaves a line with the names that he has, and is counted") {
  Bed bed;
  bed.report.stranger(Error(Code::denied, "no rule is for the certificate of CN=eve"));
  const std::string told = bed.told();
  CHECK(has(told, "\"audit\":\"call\""));
  CHECK(has(told, "\"result\":\"denied\""));
  CHECK(has(told, "CN=eve"));
  CHECK(bed.shows("ibpod_sm_strangers_total 1"));
}

}  // namespace
}  // namespace ibpod::sm
