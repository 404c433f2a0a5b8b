// Telemetry: what ibpod-sm has done and seen, as lines of its log and as metrics. Secrets never
// come here. From any thread.
#pragma once

#include "lib/fabric/binding.h"
#include "lib/fabricapi/caller.h"
#include "lib/http/metrics.h"
#include "lib/log/log.h"
#include "sm/opensm/subnet_manager.h"
#include "sm/telemetry/line_limit.h"
#include "sm/verify/port_verifier.h"

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ibpod::sm::telemetry {

// In the document's order (docs/metrics.md).
const std::vector<http::Family>& metric_families();

class Telemetry {
 public:
  using Clock = std::function<LineLimit::Time()>;
  // `clock`: by which lines are counted that callers cause.
  explicit Telemetry(log::Log& log, Clock clock = std::chrono::steady_clock::now)
      : log_(log), clock_(std::move(clock)) {}

  void error(const std::string& text) { log_.write(log::Level::error, text); }
  void warning(const std::string& text) { log_.write(log::Level::warning, text); }
  void info(const std::string& text) { log_.write(log::Level::info, text); }
  // Logs the content of the database at the start: it shows a new one or an older copy.
  void loaded(const Path& database, size_t partitions, size_t bindings, size_t nodes);
  // Logs a lasting fault once, and again if it returns; empty `text`: no fault.
  void report_condition(const std::string& about, const std::string& text);

  // Every request that changes something, granted or not, and every change without a request. A
  // granted change is on disk. Refusals, and requests that changed nothing, are limited: a caller
  // can cause them without end (sm/telemetry/line_limit.h).
  enum class Effect { change, none };
  void audit(const fabricapi::Caller& caller, std::string_view action, const std::string& subject,
             const Status& status, Effect effect = Effect::change);
  // A caller without a role has called; `refusal` has its names. Limited.
  void unauthorized(const Error& refusal);
  // A node has bound a pod of a namespace that it had none of until now, and `nodes` others have.
  void first_binding(const fabricapi::Caller& caller, const std::string& subject,
                     const std::string& name_space, size_t nodes);
  // The same of a node with more namespaces than are remembered; `log_it`: also with a line.
  void uncertain_first_binding(const fabricapi::Caller& caller, const std::string& node,
                               bool log_it);
  // A Bind was refused only because a partition's nodes do not match. Limited.
  void wrong_node(const fabricapi::Caller& caller, const std::string& subject,
                  const std::string& partition);
  // A line with the count for each caller whose lines were not written. To be called again and
  // again.
  void log_dropped();
  // A binding has come to another state. While a Bind waits for it: how long ago that was asked,
  // and how much of it is this turn's own work, the disk among it.
  struct BindDurations {
    std::chrono::microseconds since_bind, of_tick;
  };
  void changed(const fabric::Binding& binding, const std::optional<BindDurations>& course = {});
  // From the Bind on.
  void verified(fabric::Proof proof, std::chrono::duration<double> took);
  // A table that was right is not any more. And a repair of a port's tables is over: "written", or
  // the word for why it could not be done.
  void drifted(ib::Guid port, const std::string& text);
  void repaired(std::string_view result);
  void scanned(const verify::PortCounts& counts, size_t packets,
               std::chrono::duration<double> took);
  void read(size_t packets);
  // As it is now: bindings by state and reason, ports that have not settled, requests that wait.
  void bindings(const std::map<std::pair<fabric::BindingState, fabric::Reason>, size_t>& counts,
                size_t unsettled, size_t waiting);
  // Issues that let a user bypass the partitions: how many of each kind, by its name.
  void issues(const std::map<std::string_view, size_t>& counts);
  // True: all entries of the file of declared partitions are applied.
  void declared_file(bool good);
  // The TCP server: the state of its TLS files, the expiry of its certificate, the number of
  // connections closed because their address had too many, and of times without a free slot.
  struct ListenerStatus {
    Status certificate = ok();
    std::chrono::system_clock::time_point expires;
    uint64_t refused = 0;
    uint64_t no_slot = 0;
    Status key = ok();  // denied: others than our user have access to the private key
  };
  void listener(const ListenerStatus& now);
  // A connection from `address` was cut for what it cost; `holder`: its account, empty where
  // none was shown.
  void connection_closed(const std::string& address, const std::string& holder,
                         std::string_view cause);
  // A TLS handshake has failed, for OpenSSL's reason; whose it was gRPC does not tell.
  void failed_handshake(const std::string& why);
  // `wanted`: the version that should be in force.
  void engine(const opensm::EngineStatus& status, uint64_t desired);

  http::Metrics& metrics() { return metrics_; }

 private:
  void write_limited(const std::string& caller, log::Level level, const std::string& text,
                     const json::Value& members);

  log::Log& log_;
  Clock clock_;
  http::Metrics metrics_;
  std::mutex mutex_;  // of what follows
  std::map<std::string, std::string> conditions_;
  LineLimit limit_;
};

}  // namespace ibpod::sm::telemetry
