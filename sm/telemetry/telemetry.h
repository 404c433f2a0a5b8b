// Telemetry: the log lines and metrics of ibpod-sm's actions and observations. Secrets must never
// be passed to it. Thread-safe.
#pragma once

#include "lib/fabric/binding.h"
#include "lib/fabricapi/caller.h"
#include "lib/http/metrics.h"
#include "lib/log/log.h"
#include "sm/engine/subnet_manager.h"
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

// In the order of docs/metrics.md.
const std::vector<http::Family>& metric_families();

class Telemetry {
 public:
  using Clock = std::function<LineLimit::Time()>;
  // `clock`: for the limit of log lines that callers cause.
  explicit Telemetry(log::Log& log, Clock clock = std::chrono::steady_clock::now)
      : log_(log), clock_(std::move(clock)) {}

  void error(const std::string& text) { log_.write(log::Level::error, text); }
  void warning(const std::string& text) { log_.write(log::Level::warning, text); }
  void info(const std::string& text) { log_.write(log::Level::info, text); }
  // Logs the content of the database at the start: it shows a new one or an older copy.
  void loaded(const Path& database, size_t partitions, size_t bindings, size_t nodes);
  // Logs a lasting fault once, and again if it returns; empty `text`: no fault.
  void report_condition(const std::string& about, const std::string& text);

  // Every request for a change, granted or not, and every change without a request. A granted
  // change is durable. Lines of refusals, and of requests that changed nothing, are limited: a
  // caller can cause them without end (sm/telemetry/line_limit.h).
  enum class Effect { change, none };
  void audit(const fabricapi::Caller& caller, std::string_view action, const std::string& subject,
             const Status& status, Effect effect = Effect::change);
  // A call by a caller without a role; `refusal` has the caller's names. Limited.
  void unauthorized(const Error& refusal);
  // A node has bound its first pod of a namespace; `nodes`: the number of other nodes with pods of
  // it.
  void first_binding(const fabricapi::Caller& caller, const std::string& subject,
                     const std::string& name_space, size_t nodes);
  // first_binding() for a node with more namespaces than are remembered; `log_it`: also writes a
  // line.
  void uncertain_first_binding(const fabricapi::Caller& caller, const std::string& node,
                               bool log_it);
  // A Bind was refused only because of the partition's `nodes`. Limited.
  void wrong_node(const fabricapi::Caller& caller, const std::string& subject,
                  const std::string& partition);
  // Writes a line unless `caller`, who caused it, has caused too many (sm/telemetry/line_limit.h).
  void write_limited(const std::string& caller, log::Level level, const std::string& text,
                     const json::Value& members);
  // Writes a line with the count for each caller whose lines were not written. Call it at
  // intervals.
  void log_dropped();
  // A binding's state has changed. `since_bind`: the time since the Bind that waits for it;
  // `of_tick`: the part of it that this tick has taken, including the disk.
  struct BindDurations {
    std::chrono::microseconds since_bind, of_tick;
  };
  void changed(const fabric::Binding& binding, const std::optional<BindDurations>& course = {});
  // `took`: the time since the Bind.
  void verified(fabric::Proof proof, std::chrono::duration<double> took);
  // drifted(): a table is no longer right. repaired(): a repair of a port's tables is over; the
  // result is "written" or the word of the error.
  void drifted(ib::Guid port, const std::string& text);
  void repaired(std::string_view result);
  void scanned(const verify::PortCounts& counts, size_t packets,
               std::chrono::duration<double> took);
  void read(size_t packets);
  // The present bindings by state and reason, the ports that have not settled, and the waiting
  // requests.
  void bindings(const std::map<std::pair<fabric::BindingState, fabric::Reason>, size_t>& counts,
                size_t unsettled, size_t waiting);
  // The number of issues that let a user bypass partitions, by kind.
  void issues(const std::map<std::string_view, size_t>& counts);
  // True: all entries of the file of declared partitions are applied.
  void declared_file(bool good);
  // `desired`: the version that should be in force.
  void engine(const engine::EngineStatus& status, uint64_t desired);
  // A version of the partitions is "placed" or "swept"; `took`: the time since its request.
  void change_reached(std::string_view version, std::chrono::duration<double> took);

  // One call to UFM has ended; nothing as `failure`: it has done what it was asked.
  void ufm_call(std::string_view operation, std::optional<Code> failure,
                std::chrono::duration<double> took);
  // The members that UFM has made full, and those that it has accepted and not shown, both since
  // the start; and the present numbers of foreign members, and of VFs that are confined to their PF
  // or not.
  struct UfmMembers {
    uint64_t widened = 0;
    uint64_t ignored = 0;
    uint64_t foreign = 0;
    uint64_t confined_vfs = 0;
    uint64_t unconfined_vfs = 0;
  };
  void ufm_members(const UfmMembers& members);

  http::Metrics& metrics() { return metrics_; }

 private:
  log::Log& log_;
  Clock clock_;
  http::Metrics metrics_;
  std::mutex mutex_;  // for the members below
  std::map<std::string, std::string> conditions_;
  LineLimit limit_;
};

}  // namespace ibpod::sm::telemetry
