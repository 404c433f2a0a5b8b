#include "sm/probe/smp_port_prober.h"

#include "sm/discovery/discovery.h"

#include <algorithm>
#include <utility>

namespace ibpod::sm {
namespace {

using Clock = Deadline::Clock;

// Visits of a scan that are under way at once: more than any window, and a bound on memory.
constexpr size_t kScanAtOnce = 256;

// Whether another survey could make it known.
bool may_have_moved(const TableRead& table) {
  const auto* const not_read = std::get_if<NotRead>(&table);
  if (not_read == nullptr) return false;
  const Unread why = not_read->why;
  return why == Unread::timeout || why == Unread::other_port || why == Unread::doubtful ||
         why == Unread::port_unknown;
}

bool may_have_moved(const Reading& reading) {
  return may_have_moved(reading.table) || (reading.leaf && may_have_moved(reading.leaf->table));
}

bool is_whole(const Reading& reading) {
  const auto read = [](const TableRead& table) { return std::get_if<ib::PKeyTable>(&table); };
  return read(reading.table) && (!reading.leaf || read(reading.leaf->table));
}

}  // namespace

TableWatch::TableWatch(mad::Scheduler& scheduler, const WatchSettings& settings, Seen seen)
    : scheduler_(scheduler),
      settings_(settings),
      seen_(std::move(seen)),
      plan_(settings.scan, Clock::now()),
      hurry_(settings.hurry) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

TableWatch::~TableWatch() {
  thread_.request_stop();
  thread_.join();
  surveying_.request_stop();
}

void TableWatch::hurry(std::set<ib::Guid> ports) {
  inbox_->add([&](Mail& mail) { mail.hurry = std::move(ports); });
}
void TableWatch::look() {
  inbox_->add([](Mail& mail) { mail.look = true; });
}
void TableWatch::repair(std::vector<Repair> repairs) {
  inbox_->add([&](Mail& mail) {
    std::move(repairs.begin(), repairs.end(), std::back_inserter(mail.repairs));
  });
}
void TableWatch::swept() {
  inbox_->add([](Mail& mail) { mail.swept = true; });
}

void TableWatch::run(const std::stop_token& stop) {
  auto now = Clock::now();
  while (!stop.stop_requested()) {
    if (const auto work = plan_.take_due(now)) begin_survey();
    read_hurried(now);
    go_on_with_scan(now);
    report();
    Mail mail = inbox_->take(stop, next());
    now = Clock::now();
    obey(mail, now);
  }
}

std::optional<Readings::Time> TableWatch::next() const {
  const auto survey = plan_.next();
  const auto port = topology_ == nullptr ? std::nullopt : hurry_.next();
  if (!survey || !port) return survey ? survey : port;
  return std::min(*survey, *port);
}

void TableWatch::obey(Mail& mail, Readings::Time now) {
  if (mail.surveyed) arrived(*mail.surveyed, now);
  for (const Answered& answered : mail.answered) step(answered.visit, answered.outcomes, now);
  if (mail.look) plan_.look(now);
  if (mail.swept) hurry_.all_at_once(now);
  if (mail.hurry) want(*std::move(mail.hurry), now);
  std::move(mail.repairs.begin(), mail.repairs.end(), std::back_inserter(repairs_));
  begin_repairs(now);
}

void TableWatch::want(std::set<ib::Guid> ports, Readings::Time now) {
  hurry_.want(ports, now);
  std::erase_if(missing_, [&](ib::Guid port) { return !ports.contains(port); });
}

VisitTerms TableWatch::terms(mad::Urgency urgency) const {
  return {.urgency = urgency,
          .m_key = settings_.m_key,
          .timeout = settings_.timeout,
          .attempts = settings_.attempts,
          .limit = settings_.limit,
          .leaf_anew = urgency != mad::Urgency::scan};
}

// The last one has ended, or this would not be due.
void TableWatch::begin_survey() {
  surveying_ = std::jthread([this, inbox = inbox_](const std::stop_token& stop) {
    const VisitTerms asked = terms(mad::Urgency::scan);
    const auto begun = Clock::now();
    auto topology = std::make_shared<const fabric::Topology>(
        survey(scheduler_, {.terms = {asked.urgency, Deadline::in(settings_.survey_limit),
                                      asked.timeout, asked.attempts},
                            .m_key = asked.m_key,
                            .stop = stop}));
    inbox->add([&](Mail& mail) { mail.surveyed = {begun, std::move(topology)}; });
  });
}

void TableWatch::arrived(const Surveyed& surveyed, Readings::Time now) {
  const bool news = topology_ == nullptr || topology_->ports() != surveyed.topology->ports();
  topology_ = surveyed.topology;
  topology_is_news_ = true;
  plan_.surveyed(surveyed.begun, now, news);
  for (const ib::Guid port : missing_) {
    if (topology_->find(port) != nullptr) hurry_.at_once(port, now);
  }
  if (plan_.under_way()) begin_scan(surveyed);
}

void TableWatch::begin_scan(const Surveyed& surveyed) {
  scan_ = Scan{};
  scan_->readings.begun = surveyed.begun;
  scan_->readings.topology = topology_;
  scan_->everything = topology_->whole();
  for (const fabric::SeenPort& port : topology_->ports()) scan_->left.push_back(port.guid);
}

void TableWatch::go_on_with_scan(Readings::Time now) {
  if (!scan_) return;
  while (!scan_->left.empty() && scan_->under_way < kScanAtOnce) {
    const fabric::SeenPort* const port = scan_->readings.topology->find(scan_->left.back());
    scan_->left.pop_back();
    ++scan_->under_way;
    visit(*port, terms(mad::Urgency::scan), now, {});
  }
  if (!scan_->left.empty() || scan_->under_way != 0) return;
  Scan scan = *std::exchange(scan_, std::nullopt);
  plan_.scanned(scan.readings.begun, Clock::now(), scan.everything);
  scan.readings.scan = true;
  scan.readings.whole = scan.readings.topology->whole();
  topology_is_news_ = false;
  seen_(std::move(scan.readings));
}

void TableWatch::read_hurried(Readings::Time now) {
  if (topology_ == nullptr) return;
  for (const ib::Guid guid : hurry_.take_due(now)) {
    const fabric::SeenPort* const port = topology_->find(guid);
    if (port == nullptr) {
      absent(guid, false, now);
    } else {
      visit(*port, terms(mad::Urgency::bind), now, {});
    }
  }
}

// Those of one port together.
void TableWatch::begin_repairs(Readings::Time now) {
  if (topology_ == nullptr) return;
  std::map<ib::Guid, std::vector<Repair>> by_port;
  for (Repair& repair : std::exchange(repairs_, {}))
    by_port[repair.port].push_back(std::move(repair));
  for (auto& [guid, repairs] : by_port) {
    const fabric::SeenPort* const port = topology_->find(guid);
    const bool revokes = std::any_of(repairs.begin(), repairs.end(), [](const Repair& repair) {
      return repair.kind == Repair::Kind::revoke;
    });
    if (port == nullptr) {
      absent(guid, true, now);
    } else {
      visit(*port, terms(revokes ? mad::Urgency::revoke : mad::Urgency::bind), now,
            std::move(repairs));
    }
  }
}

void TableWatch::visit(const fabric::SeenPort& port, const VisitTerms& terms, Readings::Time now,
                       std::vector<Repair> repairs) {
  const VisitId id{++last_visit_};
  const bool of_scan = terms.urgency == mad::Urgency::scan;
  const bool of_repair = !repairs.empty();
  visits_.emplace(id, Visiting{PortVisit(port, *topology_, terms, std::move(repairs)), now, of_scan,
                               of_repair});
  step(id, {}, now);
}

void TableWatch::step(VisitId id, const PortVisit::Answers& answers, Readings::Time now) {
  const auto found = visits_.find(id);
  auto requests = found->second.visit.next(answers);
  if (requests.empty()) {
    over(visits_.extract(found).mapped(), now);
    return;
  }
  found->second.packets += requests.size();
  mad::gather_then(scheduler_, std::move(requests), [inbox = inbox_, id](auto outcomes) {
    inbox->add([&](Mail& mail) { mail.answered.push_back({id, std::move(outcomes)}); });
  });
}

void TableWatch::over(const Visiting& visiting, Readings::Time now) {
  Reading reading = visiting.visit.reading();
  reading.of_repair = visiting.of_repair;
  if (visiting.of_scan) {
    --scan_->under_way;
    scan_->everything &= is_whole(reading);
    scan_->readings.packets += visiting.packets;
    scan_->readings.ports.push_back(std::move(reading));
    return;
  }
  missing(reading);
  hurry_.read(reading, visiting.begun, now);
  Readings& readings = group(visiting.begun);
  readings.packets += visiting.packets;
  readings.ports.push_back(std::move(reading));
}

// Of a part of the subnet that does not answer nobody can tell who is there.
void TableWatch::absent(ib::Guid port, bool of_repair, Readings::Time now) {
  const NotRead why{topology_->whole() ? Unread::port_unknown : Unread::timeout};
  Reading reading;
  reading.port = port;
  reading.table = why;
  if (of_repair) reading.not_repaired = why;
  reading.of_repair = of_repair;
  missing(reading);
  hurry_.read(reading, now, now);
  group(now).ports.push_back(reading);
}

// One that has just got lost is looked for soon, one that stays so more rarely.
void TableWatch::missing(const Reading& reading) {
  if (!may_have_moved(reading)) {
    missing_.erase(reading.port);
  } else if (missing_.insert(reading.port).second) {
    plan_.changed();
  } else {
    plan_.missing();
  }
}

Readings& TableWatch::group(Readings::Time begun) {
  Readings& readings = groups_[begun];
  readings.begun = begun;
  readings.topology = topology_;
  return readings;
}

void TableWatch::report() {
  if (groups_.empty() && topology_is_news_ && !scan_) group(Clock::now());
  for (auto& [begun, readings] : std::exchange(groups_, {})) {
    topology_is_news_ = false;
    seen_(std::move(readings));
  }
}

}  // namespace ibpod::sm
