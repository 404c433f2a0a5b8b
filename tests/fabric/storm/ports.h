// What stands in the ports' tables, and how long it took until it did.
#pragma once

#include "lib/fabric/topology.h"
#include "lib/ib/pkey.h"
#include "lib/mad/scheduler.h"
#include "tests/fabric/setting.h"
#include "tests/support/port_tables.h"

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace ibpod {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begun);

using Times = std::vector<double>;  // ms
double median(Times ms);
double p99(Times ms);
void print(const char* what, const Times& ms);
// Beside the goal, which nothing is judged by: that is for a machine that does nothing else.
void print_ratio(const char* what, double value, double goal);

class Ports {
 public:
  Ports();
  // In the order asked for; nothing: it could not be read.
  std::vector<std::optional<ib::PKeyTable>> tables(const std::vector<unsigned>& hosts);
  std::optional<bool> has(unsigned host, ib::PKey key);
  // By hand, behind everybody's back: the first block of each.
  void write(const std::vector<unsigned>& hosts, const std::vector<ib::PKeyTable>& tables);

 private:
  mad::TablePlace place(unsigned host) const;
  std::unique_ptr<mad::Scheduler> scheduler_;
  std::unique_ptr<fabric::Topology> survey_;
};

}  // namespace ibpod
