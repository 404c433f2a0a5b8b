#include "sm/telemetry/telemetry.h"

#include "lib/fabricapi/caller.h"
#include "sm/telemetry/listener_telemetry.h"
#include "sm/telemetry/ufm_telemetry.h"

namespace ibpod::sm::telemetry {
namespace {

using http::Family;
using http::Kind;

const Family kVerified{"ibpod_sm_bind_to_verified_seconds",
                       "Time from a Bind until its binding is verified: the port's table was seen "
                       "with its keys, or no proof is required.",
                       Kind::histogram,
                       {"proof"},
                       {.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}};
const Family kRequests{"ibpod_sm_requests_total",
                       "Requests that change the state, by action and result.",
                       Kind::counter,
                       {"action", "result"}};
const Family kPorts{"ibpod_sm_ports",
                    "End ports of the subnet at the last scan, by state.",
                    Kind::gauge,
                    {"state"}};
const Family kDrifts{"ibpod_sm_drifts_total",
                     "P_Key tables found changed since the subnet manager wrote them. Keys that a "
                     "port held before the subnet manager brought it up do not count.",
                     Kind::counter};
const Family kRepairs{"ibpod_sm_repairs_total",
                      "Repairs of a port's P_Key tables, by result.",
                      Kind::counter,
                      {"result"}};
const Family kPackets{"ibpod_sm_packets_total",
                      "Subnet management packets sent to read tables.",
                      Kind::counter,
                      {"for"}};
const Family kBindings{"ibpod_sm_bindings",
                       "Bindings by state and by the reason why they are not verified.",
                       Kind::gauge,
                       {"state", "reason"}};
const Family kUnsettled{"ibpod_sm_unsettled_ports", "Ports whose tables are not yet confirmed.",
                        Kind::gauge};
const Family kWaiting{"ibpod_sm_waiting_requests", "Requests that wait for an answer.",
                      Kind::gauge};
const Family kIssues{"ibpod_sm_weaknesses",
                     "Findings of the health checks, by kind: ways around the partitions, and "
                     "faults that hide them.",
                     Kind::gauge,
                     {"kind"}};
const Family kDeclared{"ibpod_sm_declared_file_good",
                       "1 while the whole declared file is in force, 0 while any part of it is "
                       "refused; absent without such a file.",
                       Kind::gauge};
const Family kHealth{"ibpod_sm_subnet_manager",
                     "1 for the current health of the subnet manager.",
                     Kind::gauge,
                     {"health"}};
const Family kVersion{"ibpod_sm_version",
                      "Versions of the partitions: requested, in place, in force.",
                      Kind::gauge,
                      {"version"}};
const Family kEvents{"ibpod_sm_subnet_manager_events_total",
                     "Subnet manager events by type.",
                     Kind::counter,
                     {"event"}};
const Family kUnauthorized{
    "ibpod_sm_unauthorized_calls_total",
    "Calls rejected because neither a certificate nor a token gives the caller a role.",
    Kind::counter};
const Family kFirstBindings{
    "ibpod_sm_first_bindings_total",
    "Binds by which a node got its first pod of a namespace that already had pods on other nodes.",
    Kind::counter};
const Family kWrongNodes{"ibpod_sm_wrong_node_binds_total",
                         "Binds refused because the partition's `nodes` do not match the node.",
                         Kind::counter};
const Family kDropped{"ibpod_sm_dropped_log_lines_total",
                      "Log lines that were not written because callers caused too many.",
                      Kind::counter};
const Family kSweep{"ibpod_sm_sweep_seconds", "Duration of the subnet manager's last sweep.",
                    Kind::gauge};
const Family kChange{"ibpod_sm_change_seconds",
                     "Time from a change of the partitions until the subnet manager has it in "
                     "place, and until a sweep with it is over.",
                     Kind::histogram,
                     {"version"},
                     {.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}};
const Family kScan{"ibpod_sm_scan_seconds", "Duration of the last scan of all ports.", Kind::gauge};

}  // namespace

const std::vector<Family>& metric_families() {
  static const std::vector<Family> families = [] {
    std::vector all{kVerified,      kRequests,   kPorts,     kDrifts,  kRepairs, kPackets,
                    kScan,          kBindings,   kUnsettled, kWaiting, kIssues,  kDeclared,
                    kHealth,        kVersion,    kEvents,    kSweep,   kChange,  kUnauthorized,
                    kFirstBindings, kWrongNodes, kDropped};
    all.insert(all.end(), listener_families().begin(), listener_families().end());
    all.insert(all.end(), ufm_families().begin(), ufm_families().end());
    return all;
  }();
  return families;
}

void Telemetry::report_condition(const std::string& about, const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    std::string& known = conditions_[about];
    if (known == text) return;
    known = text;
  }
  if (text.empty())
    info(about + ": resolved");
  else
    warning(about + ": " + text);
}

void Telemetry::audit(const fabricapi::Caller& caller, std::string_view action,
                      const std::string& subject, const Status& status, Effect effect) {
  json::Value members = json::Value::object();
  members.set("audit", action)
      .set("by", caller.name)
      .set("role", name(caller.role))
      .set("subject", subject)
      .set("result", status ? std::string("granted") : std::string(name(status.error().code())));
  if (!status) members.set("reason", status.error().text());
  const std::string text = std::string(action) + " " + subject;
  if (status && effect == Effect::change)
    log_.write(log::Level::info, text, members);
  else
    write_limited(account_of(caller), log::Level::info, text, members);
  metrics_.add(kRequests, {std::string(action),
                           status ? "granted" : std::string(name(status.error().code()))});
}

void Telemetry::unauthorized(const Error& refusal) {
  json::Value members = json::Value::object();
  members.set("audit", "call").set("result", name(refusal.code())).set("reason", refusal.text());
  // All unauthorized callers share one account, because they choose the names in their
  // certificates and tokens.
  write_limited("callers without a role", log::Level::info, "call rejected: the caller has no role",
                members);
  metrics_.add(kUnauthorized, {});
}

void Telemetry::first_binding(const fabricapi::Caller& caller, const std::string& subject,
                              const std::string& name_space, size_t nodes) {
  json::Value members = json::Value::object();
  members.set("audit", "first binding")
      .set("by", caller.name)
      .set("role", name(caller.role))
      .set("subject", subject)
      .set("result", "granted")
      .set("namespace", name_space)
      .set("nodes", static_cast<int64_t>(nodes));
  log_.write(log::Level::info,
             "first binding of namespace " + name_space + " on this node: " + subject, members);
  metrics_.add(kFirstBindings, {});
}

void Telemetry::uncertain_first_binding(const fabricapi::Caller& caller, const std::string& node,
                                        bool log_it) {
  metrics_.add(kFirstBindings, {});
  if (!log_it) return;
  log_.write(log::Level::warning,
             "node " + node +
                 " has had pods of more namespaces than ibpod-sm remembers per node: Binds for "
                 "further namespaces are only counted (ibpod_sm_first_bindings_total)",
             json::Value::object().set("by", caller.name));
}

void Telemetry::wrong_node(const fabricapi::Caller& caller, const std::string& subject,
                           const std::string& partition) {
  write_limited(
      account_of(caller), log::Level::warning,
      "bind " + subject + ": partition " + partition +
          " does not allow this node: check the node, or add it to `nodes` of the partition",
      json::Value::object().set("by", caller.name));
  metrics_.add(kWrongNodes, {});
}

void Telemetry::write_limited(const std::string& caller, log::Level level, const std::string& text,
                              const json::Value& members) {
  log_dropped();
  {
    const std::lock_guard lock(mutex_);
    if (!limit_.take(caller, clock_())) return;
  }
  log_.write(level, text, members);
}

void Telemetry::log_dropped() {
  std::vector<LineLimit::Dropped> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped = limit_.take_dropped(clock_());
  }
  for (const auto& [caller, lines] : dropped) {
    const std::string by = caller.empty() ? "other callers" : caller;
    const std::string limit = caller.empty() ? "all callers" : "one caller";
    log_.write(log::Level::warning,
               std::to_string(lines) + " lines about " + by + " were not written: " + limit +
                   " caused more than the limit per second",
               json::Value::object().set("by", by).set("dropped", static_cast<int64_t>(lines)));
    metrics_.add(kDropped, {}, static_cast<double>(lines));
  }
}

void Telemetry::loaded(const Path& database, size_t partitions, size_t bindings, size_t nodes) {
  if (partitions + bindings + nodes == 0)
    return info(database.string() + " is empty: no partitions, bindings or nodes");
  const auto number = [](const char* of, size_t count) { return of + std::to_string(count); };
  info(database.string() + number(" holds partitions: ", partitions) +
       number(", bindings: ", bindings) + number(", nodes: ", nodes));
}

void Telemetry::changed(const fabric::Binding& binding,
                        const std::optional<BindDurations>& course) {
  json::Value members = json::Value::object();
  members.set("node", binding.attachment.node)
      .set("container", binding.attachment.container)
      .set("interface", binding.attachment.interface)
      .set("pod", binding.pod.name_space + "/" + binding.pod.name)
      .set("guid", binding.guid.text())
      .set("state", name(binding.state))
      .set("reason", name(binding.condition.reason));
  if (!binding.condition.text.empty()) members.set("why", binding.condition.text);
  if (course) members.set("us", course->since_bind.count()).set("turn_us", course->of_tick.count());
  log_.write(log::Level::debug, "binding is " + std::string(name(binding.state)), members);
}

void Telemetry::verified(fabric::Proof proof, std::chrono::duration<double> took) {
  metrics_.observe(kVerified, {std::string(name(proof))}, took.count());
}

void Telemetry::drifted(ib::Guid port, const std::string& text) {
  metrics_.add(kDrifts, {});
  warning("port " + port.text() + ": " + text);
}

void Telemetry::repaired(std::string_view result) { metrics_.add(kRepairs, {std::string(result)}); }

void Telemetry::scanned(const verify::PortCounts& counts, size_t packets,
                        std::chrono::duration<double> took) {
  const auto show = [&](const char* state, size_t count) {
    metrics_.set(kPorts, {state}, static_cast<double>(count));
  };
  show("all", counts.ports);
  show("missing_key", counts.missing);
  show("foreign_key", counts.foreign);
  show("unseen", counts.unseen);
  metrics_.set(kScan, {}, took.count());
  metrics_.add(kPackets, {"scan"}, static_cast<double>(packets));
}

void Telemetry::read(size_t packets) {
  metrics_.add(kPackets, {"binding"}, static_cast<double>(packets));
}

void Telemetry::bindings(
    const std::map<std::pair<fabric::BindingState, fabric::Reason>, size_t>& counts,
    size_t unsettled, size_t waiting) {
  std::vector<http::Sample> samples;
  for (const auto& [of, count] : counts)
    samples.push_back(
        {{std::string(name(of.first)), std::string(name(of.second))}, static_cast<double>(count)});
  metrics_.replace(kBindings, samples);
  metrics_.set(kUnsettled, {}, static_cast<double>(unsettled));
  metrics_.set(kWaiting, {}, static_cast<double>(waiting));
}

void Telemetry::issues(const std::map<std::string_view, size_t>& counts) {
  std::vector<http::Sample> samples;
  for (const auto& [kind, count] : counts)
    samples.push_back({{std::string(kind)}, static_cast<double>(count)});
  metrics_.replace(kIssues, samples);
}

void Telemetry::declared_file(bool good) { metrics_.set(kDeclared, {}, good ? 1 : 0); }

void Telemetry::engine(const engine::EngineStatus& status, uint64_t desired) {
  metrics_.replace(kHealth, {{{std::string(engine::name(status.health))}, 1}});
  const auto version = [&](const char* which, uint64_t number) {
    metrics_.set(kVersion, {which}, static_cast<double>(number));
  };
  version("wanted", desired);
  version("placed", status.placed);
  version("swept", status.swept);
  std::vector<http::Sample> events;
  const auto event = [&](const char* which, uint64_t count) {
    events.push_back({{which}, static_cast<double>(count)});
  };
  event("sweep", status.sweeps);
  event("failed_sweep", status.failed_sweeps);
  event("hup", status.hups);
  event("fail_open", status.fail_opens);
  event("violation", status.violations);
  event("restore", status.restores);
  event("edit", status.edits);
  event("loss", status.losses);
  event("full_table", status.full_tables);
  event("enforcement_lost", status.enforcement_lost);
  event("start", status.starts);
  metrics_.replace(kEvents, events);
  metrics_.set(kSweep, {}, std::chrono::duration<double>(status.last_sweep).count());
}

void Telemetry::change_reached(std::string_view version, std::chrono::duration<double> took) {
  metrics_.observe(kChange, {std::string(version)}, took.count());
}

}  // namespace ibpod::sm::telemetry
