#include "sm/probe/smp_port_prober.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ibpod::sm::probe {
namespace {

using Clock = Deadline::Clock;

// The most probes of a scan at once: more than any window, to limit memory.
constexpr size_t kScanAtOnce = 256;

// True if another discovery could find the port.
bool may_have_moved(const TableOrError& table) {
  const auto* const not_read = std::get_if<ProbeError>(&table);
  if (not_read == nullptr) return false;
  const ProbeFailure why = not_read->failure;
  return why == ProbeFailure::timeout || why == ProbeFailure::other_port ||
         why == ProbeFailure::duplicate_guid || why == ProbeFailure::port_unknown;
}

bool may_have_moved(const ProbeResult& reading) {
  return may_have_moved(reading.table) ||
         (reading.switch_port && may_have_moved(reading.switch_port->table));
}

bool is_whole(const ProbeResult& reading) {
  const auto read = [](const TableOrError& table) { return std::get_if<ib::PKeyTable>(&table); };
  return read(reading.table) && (!reading.switch_port || read(reading.switch_port->table));
}

}  // namespace

SmpPortProber::SmpPortProber(mad::Scheduler& scheduler, const ProberSettings& settings,
                             Callback seen)
    : settings_(settings),
      plan_(settings.scan, Clock::now()),
      poll_schedule_(settings.poll),
      probes_(scheduler, inbox_),
      batches_(std::move(seen)),
      discovery_(scheduler, settings_, inbox_) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

SmpPortProber::~SmpPortProber() {
  thread_.request_stop();
  thread_.join();
}

void SmpPortProber::poll(std::set<ib::Guid> ports) {
  inbox_->add([&](Tasks& mail) { mail.polled = std::move(ports); });
}
void SmpPortProber::rescan() {
  inbox_->add([](Tasks& mail) { mail.rescan = true; });
}
void SmpPortProber::repair(std::vector<Repair> repairs) {
  inbox_->add([&](Tasks& mail) {
    std::move(repairs.begin(), repairs.end(), std::back_inserter(mail.repairs));
  });
}
void SmpPortProber::swept() {
  inbox_->add([](Tasks& mail) { mail.swept = true; });
}

void SmpPortProber::run(const std::stop_token& stop) {
  auto now = Clock::now();
  while (!stop.stop_requested()) {
    if (const auto work = plan_.take_due(now)) discovery_.begin();
    probe_polled(now);
    continue_scan(now);
    batches_.report(topology_, scan_.has_value());
    Tasks mail = inbox_->take(stop, next());
    now = Clock::now();
    take(mail, now);
  }
}

std::optional<ProbeBatch::Time> SmpPortProber::next() const {
  const auto discovery = plan_.next();
  const auto port = topology_ == nullptr ? std::nullopt : poll_schedule_.next();
  if (!discovery || !port) return discovery ? discovery : port;
  return std::min(*discovery, *port);
}

void SmpPortProber::take(Tasks& mail, ProbeBatch::Time now) {
  if (mail.discovered) discovered(*mail.discovered, now);
  for (const ProbeAnswers& answered : mail.answered) {
    if (const auto ended = probes_.step(answered)) finished(*ended, now);
  }
  if (mail.rescan) plan_.rescan(now);
  if (mail.swept) poll_schedule_.poll_all_now(now);
  if (mail.polled) set_polled(*std::move(mail.polled), now);
  std::move(mail.repairs.begin(), mail.repairs.end(), std::back_inserter(repairs_));
  begin_repairs(now);
}

void SmpPortProber::set_polled(std::set<ib::Guid> ports, ProbeBatch::Time now) {
  poll_schedule_.set(ports, now);
  std::erase_if(missing_, [&](ib::Guid port) { return !ports.contains(port); });
}

void SmpPortProber::discovered(const DiscoveryDone& surveyed, ProbeBatch::Time now) {
  const bool news = topology_ == nullptr || topology_->ports() != surveyed.topology->ports();
  topology_ = surveyed.topology;
  batches_.topology_changed();
  plan_.discovered(surveyed.begun, now, news);
  for (const ib::Guid port : missing_) {
    if (topology_->find(port) != nullptr) poll_schedule_.poll_now(port, now);
  }
  if (plan_.under_way()) begin_scan(surveyed);
}

void SmpPortProber::begin_scan(const DiscoveryDone& surveyed) {
  scan_ = Scan{};
  scan_->batch.begun = surveyed.begun;
  scan_->batch.topology = topology_;
  scan_->everything = topology_->is_complete();
  for (const fabric::Port& port : topology_->ports()) scan_->left.push_back(port.guid);
}

void SmpPortProber::continue_scan(ProbeBatch::Time now) {
  if (!scan_) return;
  while (!scan_->left.empty() && scan_->under_way < kScanAtOnce) {
    const fabric::Port* const port = scan_->batch.topology->find(scan_->left.back());
    scan_->left.pop_back();
    ++scan_->under_way;
    start_probe(*port, settings_.probe_options(mad::Urgency::scan), now, {});
  }
  if (!scan_->left.empty() || scan_->under_way != 0) return;
  Scan scan = *std::exchange(scan_, std::nullopt);
  plan_.scanned(scan.batch.begun, Clock::now(), scan.everything);
  scan.batch.full_scan = true;
  scan.batch.complete = scan.batch.topology->is_complete();
  batches_.report_scan(std::move(scan.batch));
}

void SmpPortProber::probe_polled(ProbeBatch::Time now) {
  if (topology_ == nullptr) return;
  for (const ib::Guid guid : poll_schedule_.take_due(now)) {
    const fabric::Port* const port = topology_->find(guid);
    if (port == nullptr) {
      absent(guid, false, now);
    } else {
      start_probe(*port, settings_.probe_options(mad::Urgency::bind), now, {});
    }
  }
}

// The repairs of one port are done together.
void SmpPortProber::begin_repairs(ProbeBatch::Time now) {
  if (topology_ == nullptr) return;
  std::map<ib::Guid, std::vector<Repair>> by_port;
  for (Repair& repair : std::exchange(repairs_, {}))
    by_port[repair.port].push_back(std::move(repair));
  for (auto& [guid, repairs] : by_port) {
    const fabric::Port* const port = topology_->find(guid);
    const bool revokes = std::any_of(repairs.begin(), repairs.end(), [](const Repair& repair) {
      return repair.kind == Repair::Kind::revoke;
    });
    if (port == nullptr) {
      absent(guid, true, now);
    } else {
      start_probe(*port,
                  settings_.probe_options(revokes ? mad::Urgency::revoke : mad::Urgency::bind), now,
                  std::move(repairs));
    }
  }
}

void SmpPortProber::start_probe(const fabric::Port& port, const ProbeOptions& terms,
                                ProbeBatch::Time now, std::vector<Repair> repairs) {
  const bool of_scan = terms.urgency == mad::Urgency::scan;
  const bool of_repair = !repairs.empty();
  const auto ended = probes_.start(
      {PortProbe(port, *topology_, terms, std::move(repairs)), now, of_scan, of_repair});
  if (ended) finished(*ended, now);
}

void SmpPortProber::finished(const RunningProbe& visiting, ProbeBatch::Time now) {
  ProbeResult reading = visiting.probe.result();
  reading.after_repair = visiting.of_repair;
  if (visiting.of_scan) {
    --scan_->under_way;
    scan_->everything &= is_whole(reading);
    scan_->batch.packets += visiting.packets;
    scan_->batch.ports.push_back(std::move(reading));
    return;
  }
  missing(reading);
  poll_schedule_.note_read(reading, visiting.begun, now);
  ProbeBatch& readings = batches_.batch(visiting.begun, topology_);
  readings.packets += visiting.packets;
  readings.ports.push_back(std::move(reading));
}

// If part of the subnet did not answer, the port may be there: then it is not reported absent.
void SmpPortProber::absent(ib::Guid port, bool of_repair, ProbeBatch::Time now) {
  const ProbeError why{topology_->is_complete() ? ProbeFailure::port_unknown
                                                : ProbeFailure::timeout};
  ProbeResult reading;
  reading.port = port;
  reading.table = why;
  if (of_repair) reading.repair_error = why;
  reading.after_repair = of_repair;
  missing(reading);
  poll_schedule_.note_read(reading, now, now);
  batches_.batch(now, topology_).ports.push_back(reading);
}

// A port that has just gone missing is searched soon, one that stays missing less often.
void SmpPortProber::missing(const ProbeResult& reading) {
  if (!may_have_moved(reading)) {
    missing_.erase(reading.port);
  } else if (missing_.insert(reading.port).second) {
    plan_.changed();
  } else {
    plan_.port_missing();
  }
}

}  // namespace ibpod::sm::probe
