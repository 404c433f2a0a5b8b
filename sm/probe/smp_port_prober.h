// TableWatch: the witness `port`: the P_Key tables as the ports themselves tell of them, never as a
// subnet manager does. It reads all of them now and then, those that somebody waits for again and
// again, and writes blocks that are to be repaired.
#pragma once

#include "lib/mad/scheduler.h"
#include "sm/probe/poll_schedule.h"
#include "sm/probe/task_inbox.h"
#include "sm/probe/port_probe.h"
#include "sm/probe/scan_plan.h"
#include "sm/probe/port_prober.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <vector>

namespace ibpod::sm {

struct WatchSettings {
  ScanPace scan = {};
  HurryPace hurry = {};
  mad::MKey m_key = mad::MKey::none;
  Duration timeout{200};  // for an answer; after `attempts` of them a port is silent
  int attempts = 3;
  Duration limit{5000};          // of one step of a reading
  Duration survey_limit{60000};  // of a survey
};

// It works on a thread of its own, and surveys on another, so that who is waited for does not wait
// for a survey. Any thread may give orders, also from within `Seen`; they return at once.
class TableWatch final : public Tables {
 public:
  // Runs on its thread, which waits for it. Readings that began together come together, those of a
  // port that is silent later. After a survey without a scan there may be none, but a new topology.
  using Seen = std::function<void(Readings)>;

  // It begins with a scan. The scheduler outlives it.
  TableWatch(mad::Scheduler& scheduler, const WatchSettings& settings, Seen seen);
  // Stops: nothing is reported afterwards. A Set that is on its way may still be done.
  ~TableWatch() override;
  TableWatch(const TableWatch&) = delete;
  TableWatch& operator=(const TableWatch&) = delete;
  TableWatch(TableWatch&&) = delete;
  TableWatch& operator=(TableWatch&&) = delete;

  // HurryPace says how often. Where the topology does not have a port, or somebody else answers at
  // its LID, the subnet is surveyed again.
  void hurry(std::set<ib::Guid> ports) override;
  // A whole scan now: a survey, and every end port's table with that of its switch port.
  void look() override;
  // Before the first survey is over they wait.
  void repair(std::vector<Repair> repairs) override;
  void swept() override;

 private:
  struct Visiting {
    PortVisit visit;
    Readings::Time begun;
    bool of_scan = false;
    bool of_repair = false;
    size_t packets = 0;
  };
  // Readings of one beginning that have ended together.
  using Groups = std::map<Readings::Time, Readings>;
  struct Scan {
    Readings readings;
    std::vector<ib::Guid> left;
    size_t under_way = 0;
    bool everything = true;
  };

  void run(const std::stop_token& stop);
  void obey(Mail& mail, Readings::Time now);
  void want(std::set<ib::Guid> ports, Readings::Time now);
  void arrived(const Surveyed& surveyed, Readings::Time now);
  void begin_survey();
  void begin_scan(const Surveyed& surveyed);
  void go_on_with_scan(Readings::Time now);
  void read_hurried(Readings::Time now);
  void begin_repairs(Readings::Time now);
  void visit(const fabric::SeenPort& port, const VisitTerms& terms, Readings::Time now,
             std::vector<Repair> repairs);
  void step(VisitId id, const PortVisit::Answers& answers, Readings::Time now);
  void over(const Visiting& visiting, Readings::Time now);
  void absent(ib::Guid port, bool of_repair, Readings::Time now);
  void missing(const Reading& reading);
  Readings& group(Readings::Time begun);
  void report();
  VisitTerms terms(mad::Urgency urgency) const;
  std::optional<Readings::Time> next() const;

  mad::Scheduler& scheduler_;
  WatchSettings settings_;
  Seen seen_;
  // Answers may come when this object has gone.
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();

  // The rest is its thread's.
  ScanPlan plan_;
  Hurry hurry_;
  std::set<ib::Guid> missing_;  // ports that were lost when read last: a survey is asked for
  std::shared_ptr<const fabric::Topology> topology_;
  std::optional<Scan> scan_;
  std::vector<Repair> repairs_;  // that wait for a topology
  uint64_t last_visit_ = 0;
  std::unordered_map<VisitId, Visiting> visits_;
  Groups groups_;
  bool topology_is_news_ = false;
  std::jthread surveying_;
  std::jthread thread_;
};

}  // namespace ibpod::sm
