#include "sm/telemetry/listener_telemetry.h"

namespace ibpod::sm::telemetry {
namespace {

using http::Family;
using http::Kind;

const Family kExpires{"ibpod_sm_certificate_expires_seconds",
                      "Expiry of the certificate in use, in Unix time.", Kind::gauge};
const Family kUsable{"ibpod_sm_certificate_usable",
                     "1 while the certificate, key and CA on disk can be used.", Kind::gauge};
const Family kKeyExposed{"ibpod_sm_tls_key_exposed",
                         "1 while users other than ibpod-sm's have access to its TLS key.",
                         Kind::gauge};
const Family kRefused{"ibpod_sm_refused_connections_total",
                      "Connections closed because their address had too many, or too many that had "
                      "ended and were not closed yet.",
                      Kind::counter};
const Family kStarved{
    "ibpod_sm_starved_connections_total",
    "Times that connections had to wait because the connection limit was reached.", Kind::counter};
const Family kCut{"ibpod_sm_cut_connections_total",
                  "Connections closed because they exceeded a limit of their account, by cause.",
                  Kind::counter,
                  {"cause"}};
const Family kHandshakes{"ibpod_sm_failed_handshakes_total",
                         "Failed TLS handshakes of clients, by reason.",
                         Kind::counter,
                         {"reason"}};

}  // namespace

const std::vector<Family>& listener_families() {
  static const std::vector<Family> families{kExpires, kUsable, kKeyExposed, kRefused,
                                            kStarved, kCut,    kHandshakes};
  return families;
}

void ListenerTelemetry::status(const ListenerStatus& now) {
  telemetry_.report_condition("certificate", now.certificate ? "" : now.certificate.error().text());
  telemetry_.metrics().set(kUsable, {}, now.certificate ? 1 : 0);
  telemetry_.report_condition("private key of listen", now.key ? "" : now.key.error().text());
  telemetry_.metrics().set(kKeyExposed, {}, now.key ? 0 : 1);
  const auto since = now.expires.time_since_epoch();
  telemetry_.metrics().set(kExpires, {}, std::chrono::duration<double>(since).count());
  telemetry_.metrics().replace(kRefused, {http::Sample{{}, static_cast<double>(now.refused)}});
  telemetry_.metrics().replace(kStarved, {http::Sample{{}, static_cast<double>(now.no_slot)}});
}

void ListenerTelemetry::connection_closed(const std::string& address, const std::string& holder,
                                          std::string_view cause) {
  telemetry_.metrics().add(kCut, {std::string(cause)});
  json::Value members = json::Value::object();
  members.set("cause", cause).set("address", address);
  if (!holder.empty()) members.set("account", holder);
  const std::string who = holder.empty() ? address : holder + " at " + address;
  telemetry_.write_limited(
      holder.empty() ? address : holder, log::Level::warning,
      "connection of " + who + " closed: limit " + std::string(cause) + " exceeded", members);
}

void ListenerTelemetry::failed_handshake(const std::string& why) {
  // If a client rejects our certificate, OpenSSL reports an alert.
  const auto says = [&](std::string_view part) { return why.find(part) != why.npos; };
  std::string reason = "other", hint;
  if (says("certificate verify failed")) {
    reason = "certificate";
    hint = ": a client's certificate has expired, is not yet valid, or is signed by another CA";
  } else if (says("did not return a certificate")) {
    reason = "noCertificate";
    hint = ": not a client of ibpod-sm, or the client's certificate is not configured";
  }
  telemetry_.metrics().add(kHandshakes, {reason});
  telemetry_.write_limited("handshakes", log::Level::warning,
                           "TLS handshake failed: " + why.substr(0, 100) + hint,
                           json::Value::object());
}

}  // namespace ibpod::sm::telemetry
