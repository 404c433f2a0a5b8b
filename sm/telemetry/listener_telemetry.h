// ListenerTelemetry: the log lines and metrics of the TCP server: the state of its TLS files, and
// the connections that it refuses or closes. Thread-safe.
#pragma once

#include "sm/telemetry/telemetry.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::telemetry {

// In the order of docs/metrics.md: the last ones of metric_families().
const std::vector<http::Family>& listener_families();

struct ListenerStatus {
  Status certificate = ok();
  std::chrono::system_clock::time_point expires;
  uint64_t refused = 0;  // connections closed because their address had too many
  uint64_t no_slot = 0;  // times without a free slot
  Status key = ok();     // denied: others than our user have access to the private key
};

class ListenerTelemetry {
 public:
  // `telemetry` outlives it.
  explicit ListenerTelemetry(Telemetry& telemetry) : telemetry_(telemetry) {}

  void status(const ListenerStatus& now);
  // A connection from `address` was closed for exceeding a limit; `holder`: its account, empty if
  // it had none.
  void connection_closed(const std::string& address, const std::string& holder,
                         std::string_view cause);
  // A TLS handshake has failed; `why` is OpenSSL's reason. gRPC does not report the address.
  void failed_handshake(const std::string& why);

 private:
  Telemetry& telemetry_;
};

}  // namespace ibpod::sm::telemetry
